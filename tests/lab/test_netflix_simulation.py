"""The simulated Netflix: files in the real formats, with the published numbers, from a truth
that can be learned."""

import itertools
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapfm_lab.netflix_simulation import latent, marginals, simulate
from gapfm_lab.netflix_simulation import simulation_kernels as simulation
from gapfm_lab.netflix_simulation.simulate import simulate_netflix
from gapfm_teach import kernels
from gapfm_teach.datasets.netflix import names

SCALE, SEED = 1 / 200, 7
TINY = 2e-4
COMBINED = [f"combined_data_{number}.txt" for number in (1, 2, 3, 4)]
LINE = re.compile(rb"(\d+),([1-5]),(\d{4}-\d\d-\d\d)")


def parse(data: bytes):
    """(movie, line) of every line below a header, read one by one as a person would."""
    movie = 0
    assert data.endswith(b"\n")
    for line in data[:-1].split(b"\n"):
        if line.endswith(b":"):
            movie = int(line[:-1])
        else:
            yield movie, line


def read(folder):
    movies, users, grades, dates = [], [], [], []
    for name in COMBINED:
        for movie, line in parse((folder / name).read_bytes()):
            found = LINE.fullmatch(line)
            assert found, line
            movies.append(movie)
            users.append(int(found[1]))
            grades.append(int(found[2]))
            dates.append(found[3])
    probe = [
        (movie, int(line)) for movie, line in parse((folder / "probe.txt").read_bytes())
    ]
    return SimpleNamespace(
        movies=np.array(movies),
        users=np.array(users),
        grades=np.array(grades),
        dates=np.array(dates, "datetime64[D]"),
        probe=np.array(probe),
        pairs={pair: at for at, pair in enumerate(zip(movies, users, strict=True))},
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return simulate_netflix(tmp_path_factory.mktemp("s") / "new", SCALE, random_state=SEED)


@pytest.fixture(scope="module")
def data(folder):
    return read(folder)


@pytest.fixture(scope="module")
def truth():
    return latent.draw_truth(SCALE, np.random.default_rng(SEED))


def everything(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_sizes_are_those_asked_for(data):
    assert data.grades.size == len(data.pairs) == round(100_480_507 / 200)  # all distinct
    assert len(set(data.users)) == round(480_189 / 200)
    assert max(data.users) == 2_649_429
    assert min(data.users) >= 1
    assert set(data.movies) == set(range(1, round(17_770 / 200**0.25) + 1))


def test_probe_is_the_latest_part_of_the_ratings(data):
    rows = [data.pairs[tuple(pair)] for pair in data.probe.tolist()]
    assert len(set(rows)) == len(data.probe) == round(1_408_395 / 200)
    in_probe = np.zeros(data.grades.size, bool)
    in_probe[rows] = True
    last = {}
    for user, date in zip(data.users[~in_probe], data.dates[~in_probe], strict=True):
        last[user] = max(date, last.get(user, date))
    assert set(last) == set(data.users)  # everyone keeps something to learn from
    assert all(
        date >= last[user]
        for user, date in zip(data.users[in_probe], data.dates[in_probe], strict=True)
    )


def test_dates_are_those_of_the_contest(data):
    assert data.dates.min() >= np.datetime64("1999-11-11")
    assert data.dates.max() <= np.datetime64("2005-12-31")


def test_probe_lists_movies_as_the_real_file_does(folder):
    headers = re.findall(rb"^(\d+):$", (folder / "probe.txt").read_bytes(), re.M)
    assert headers == sorted(headers)  # 1, 10, 100, 1000: in the order of text


def test_grade_shares(data):
    """A cut lies within half a step of where it should. No step holds more than its width times
    the highest density a score of deviation 1 has here, give or take what chance adds."""
    width = 2 * simulation.SCORE_RANGE / simulation.SCORE_STEPS
    expected = 0.5 * width * data.grades.size
    tolerance = (expected + 5 * np.sqrt(expected)) / data.grades.size
    shares = np.bincount(data.grades, minlength=6)[1:] / data.grades.size
    published = np.array([4_617_990, 10_132_080, 28_811_247, 33_750_958, 23_168_232])
    np.testing.assert_allclose(shares, published / published.sum(), atol=tolerance, rtol=0)


def test_activity_of_users(data):
    """Quartiles of the real data; what lies between a user and the next is all that can differ."""
    _, counts = np.unique(data.users, return_counts=True)
    np.testing.assert_allclose(
        np.percentile(counts, [25, 50, 75]), [39, 96, 259], rtol=0.02
    )
    assert 10 * np.median(counts) < counts.max() < 17_770


def test_users_with_fifty_training_ratings(data):
    """Nearer the paper's Table 1 than a random sample of so many real users would be likely to
    come: within one standard deviation."""
    users, probe_users = data.users.tolist(), data.probe[:, 1].tolist()
    _, counts = np.unique(users, return_counts=True)
    _, with_one_more = np.unique(users + probe_users, return_counts=True)
    training = 2 * counts - with_one_more
    share = 319_275 / 480_189
    deviation = np.sqrt(counts.size * share * (1 - share))
    assert abs(np.sum(training >= 50) - share * counts.size) < deviation
    assert training.sum() == round(100_480_507 / 200) - round(1_408_395 / 200)


def test_truth_is_the_one_that_was_written(data, truth):
    ids, counts = np.unique(data.users, return_counts=True)
    order = np.argsort(truth.ids)
    np.testing.assert_array_equal(ids, truth.ids[order])
    np.testing.assert_array_equal(counts, truth.counts[order])
    in_probe = np.array([np.searchsorted(ids, user) for _, user in data.probe])
    n_probe = np.bincount(in_probe, minlength=ids.size)
    np.testing.assert_array_equal(n_probe, truth.n_probe[order])


def ranks_of_probe(scores, data, truth, rng):
    """Of each probe rating: its place among 500 movies the user has not rated."""
    user_of = {user: m for m, user in enumerate(truth.ids.tolist())}
    n_movies = truth.sizes.n_movies
    ranks = []
    for movie, user in data.probe[:1500].tolist():
        others = rng.choice(n_movies, 500, replace=False)
        others = [i for i in others.tolist() if (i + 1, user) not in data.pairs]
        f = scores(user_of[user])
        ranks.append(np.mean(f[others] >= f[movie - 1]))
    return np.array(ranks)


def test_taste_can_be_learned_beyond_popularity(data, truth):
    """Ranking by the truth puts held-out ratings higher than ranking by popularity, and far more
    clearly than chance would."""
    popularity = np.bincount(data.movies - 1)

    def by_truth(m):
        taste = truth.V @ truth.U[m]
        return np.log(truth.exposure) - np.log1p(
            np.exp(latent.SHIFT - latent.SHARPNESS * taste)
        )

    known, popular = (
        ranks_of_probe(scores, data, truth, np.random.default_rng(0))
        for scores in (by_truth, lambda m: popularity)
    )
    assert popular.mean() < 0.45  # popularity is worth something: chance has one half
    gain = popular - known
    assert gain.mean() > 5 * gain.std() / np.sqrt(gain.size)
    assert known.mean() < 0.8 * popular.mean()


def test_grades_follow_the_truth(data, truth):
    order = np.argsort(truth.ids)
    m = order[np.searchsorted(truth.ids[order], data.users)]
    taste = np.einsum("rd,rd->r", truth.U[m], truth.V[data.movies - 1])
    biases = truth.user_bias[m] + truth.movie_bias[data.movies - 1]
    weights = np.linalg.lstsq(
        np.column_stack([np.ones(m.size), biases, taste]), data.grades, rcond=None
    )[0]
    # In the score a bias counts once and taste by its factor; cutting keeps the proportion.
    assert weights[1] > 0
    assert weights[2] / weights[1] == pytest.approx(latent.TASTE, rel=0.05)


@given(st.lists(st.floats(1e-8, 1e3), min_size=1, max_size=50))
def test_alias_table_gives_each_its_weight(weights):
    weights = np.array(weights)
    coin, alias = latent.alias_table(weights)
    chance = coin + np.bincount(alias, 1 - coin, minlength=weights.size)
    np.testing.assert_allclose(
        chance / weights.size, weights / weights.sum(), rtol=1e-9, atol=1e-12
    )
    assert coin.min() >= 0
    assert coin.max() <= 1


@pytest.mark.parametrize(
    "shift", [1.0, 4.0]
)  # at 4 patience often ends before two are found
def test_movies_are_chosen_with_the_right_probability(shift):
    """Against all orders in which two of five movies can come, one after the other."""
    rng = np.random.default_rng(3)
    n_users, chosen = 40_000, 2
    weights = np.array([0.5, 0.25, 0.15, 0.07, 0.03])
    V = rng.normal(size=(5, 3)).astype(np.float32)
    U = np.tile(rng.normal(size=3).astype(np.float32), (n_users, 1))
    rates = weights / (1 + np.exp(shift - 2 * (V @ U[0]).astype(float)))
    rates /= rates.sum()
    expected = np.zeros(5)
    for first, second in itertools.permutations(range(5), chosen):
        expected[[first, second]] += rates[first] * rates[second] / (1 - rates[first])
    movies = np.zeros(n_users * chosen, np.uint16)
    simulation.choose_movies(
        0,
        n_users,
        np.arange(0, n_users * chosen + 1, chosen),
        np.zeros(n_users, np.int64),
        weights,
        *latent.alias_table(weights),
        U,
        V,
        2.0,
        shift,
        rng.integers(2**64, size=n_users, dtype=np.uint64),
        movies,
    )
    deviation = np.sqrt(expected * (1 - expected) / n_users)
    observed = np.bincount(movies, minlength=5) / n_users
    np.testing.assert_array_less(np.abs(observed - expected), 4.5 * deviation)
    first = np.bincount(movies[::chosen], minlength=5) / n_users
    np.testing.assert_array_less(np.abs(first - expected / 2), 4.5 * deviation)  # no order


def test_exposure_gives_movies_their_popularity():
    """Checked by brute force over users with tastes of their own, where the function itself
    averages over taste. Both samples are spread evenly over the distribution's quantiles."""
    rng = np.random.default_rng(0)
    nodes, chances = np.polynomial.hermite_e.hermegauss(7)
    acceptance = 1 / (1 + np.exp(1 - 2 * nodes))
    p = marginals.midpoints(names.N_MOVIES)[8::17]
    each = names.N_MOVIES / p.size
    weights = marginals.exposure(p, acceptance, chances / chances.sum())
    # The rarest movies are rated by the most active hundredth of users above all.
    active = 0.99 + 0.01 * marginals.midpoints(200)
    users = np.concatenate([0.99 * marginals.midpoints(300), active])
    mass = np.repeat([0.99 / 300, 0.01 / 200], [300, 200])
    counts = marginals.ratings_of_user(users)
    rates = weights / (1 + np.exp(1 - 2 * rng.normal(size=(500, p.size))))
    low, high = np.full(500, 1e-3), np.full(500, 1e12)
    for _ in range(60):
        middle = np.sqrt(low * high)
        enough = each * -np.expm1(-rates * middle[:, None]).sum(axis=1) > counts
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    found = mass @ -np.expm1(-rates * low[:, None]) * names.N_USERS
    wanted = marginals.ratings_of_movie(p)
    for part in np.array_split(np.arange(p.size), 10):
        # Chance: under 15% for a movie seen by so many users, under 1.5% for a hundred of them.
        assert found[part].sum() == pytest.approx(wanted[part].sum(), rel=0.04)


def test_published_means_are_met():
    users = marginals.ratings_of_user(marginals.midpoints(480_189))
    movies = marginals.ratings_of_movie(marginals.midpoints(17_770))
    assert users.mean() == pytest.approx(100_480_507 / 480_189, rel=0.005)
    assert movies.mean() == pytest.approx(100_480_507 / 17_770, rel=0.005)
    assert np.median(movies) == pytest.approx(561, rel=0.01)
    assert [users.max(), movies.max()] == pytest.approx([17_653, 232_944])


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 0.3, 0.02, 1e-3, 1e-4])
def test_activity_fits_the_catalogue_at_every_scale(scale):
    sizes = latent.Sizes(scale)
    truth = latent.draw_truth(scale, np.random.default_rng(0))
    assert truth.counts.sum() == sizes.n_ratings
    assert truth.n_probe.sum() == sizes.n_probe
    assert 1 <= truth.counts.min() <= truth.counts.max() < sizes.n_movies
    assert np.all(truth.n_probe <= truth.counts // 2)
    share = np.mean(truth.counts - truth.n_probe >= 50)
    assert share == pytest.approx(319_275 / 480_189, abs=2 / np.sqrt(sizes.n_users))


def test_titles_hold_what_makes_the_real_ones_hard(folder):
    raw = (folder / "movie_titles.csv").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        raw.decode("utf-8")
    rows = [line.split(",", 2) for line in raw.decode("latin-1").splitlines()]
    assert [int(row[0]) for row in rows] == list(range(1, len(rows) + 1))
    assert any("," in title for _, _, title in rows)
    years = [year for _, year, _ in rows]
    assert "NULL" in years
    assert all(1890 <= int(year) <= 2005 for year in years if year != "NULL")


@pytest.mark.slow
def test_the_original_layout_holds_the_same(tmp_path):
    kaggle = simulate_netflix(tmp_path / "kaggle", TINY, random_state=1)
    original = simulate_netflix(tmp_path / "orig", TINY, layout="original", random_state=1)
    files = sorted((original / "training_set").iterdir())
    assert files[0].name == "mv_0000001.txt"
    assert files[0].read_bytes().startswith(b"1:\n")
    assert len(files) == latent.Sizes(TINY).n_movies
    joined = b"".join((kaggle / name).read_bytes() for name in COMBINED)
    assert b"".join(path.read_bytes() for path in files) == joined
    for name in ("movie_titles", "probe"):
        (here,), (there,) = original.glob(f"{name}.*"), kaggle.glob(f"{name}.*")
        assert here.suffix == ".txt"
        assert here.read_bytes() == there.read_bytes()


def test_large_files_are_written_in_pieces_and_come_out_whole(tmp_path, monkeypatch):
    whole = simulate_netflix(tmp_path / "whole", TINY, random_state=1)
    monkeypatch.setattr(simulate, "RATINGS_A_WRITE", 100)
    pieces = simulate_netflix(tmp_path / "pieces", TINY, random_state=1)
    assert everything(pieces) == everything(whole)


@pytest.mark.slow
def test_the_seed_alone_decides(tmp_path):
    with kernels.using_threads(1):
        one = everything(simulate_netflix(tmp_path / "one", TINY, random_state=1))
    with kernels.using_threads(3):
        many = everything(simulate_netflix(tmp_path / "many", TINY, random_state=1))
    other = everything(simulate_netflix(tmp_path / "other", TINY, random_state=2))
    assert one == many
    assert all(one[name] != other[name] for name in [*COMBINED, "probe.txt"])


def test_it_says_that_it_is_simulated(folder):
    lines = (folder / "SIMULATED.txt").read_text().splitlines()
    assert lines[0] == "simulated, in Netflix's formats, scale 0.005"
    assert "Not the Netflix Prize data" in lines[1]
    assert lines[-1] == f"random_state: {SEED}"


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"scale": 0}, ValueError, "scale must be finite and at least 0.0001"),
        ({"scale": 2}, ValueError, "scale must be at most 1"),
        ({"scale": float("nan")}, ValueError, "scale"),
        ({"scale": "all"}, TypeError, "scale must be a number"),
        ({"layout": "zip"}, ValueError, "'kaggle', 'original'"),
        ({"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_bad_arguments(tmp_path, arguments, error, words):
    with pytest.raises(error, match=words):
        simulate_netflix(tmp_path / "new", **{"scale": TINY, **arguments})
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    for taken in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(FileExistsError, match="is not an empty folder"):
            simulate_netflix(taken, TINY, random_state=0)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    simulate_netflix(tmp_path / "empty", TINY, random_state=0)
    assert (tmp_path / "empty" / "probe.txt").exists()


def test_a_stopped_run_leaves_nothing(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate, "title_lines", stop)  # after the ratings are written
    (tmp_path / "empty").mkdir()
    for place in ("new", "empty"):
        with pytest.raises(KeyboardInterrupt):
            simulate_netflix(tmp_path / place, TINY, random_state=0)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]
    assert not list((tmp_path / "empty").iterdir())


def test_a_full_disk_is_named_before_anything_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    with pytest.raises(OSError, match=r"1\.00 GB free and the files need up to 2\.11 GB"):
        simulate_netflix(tmp_path / "new", 1.0, random_state=0)
    assert not list(tmp_path.iterdir())
