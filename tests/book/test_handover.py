"""A saved model in the hands of a program that has handover.qmd, but not this package."""

import json
import os
import re
import subprocess
import sys
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest

from gapfm_teach import GAPfm, Ratings, load_movielens, simulate_ratings
from gapfm_teach.training.objectives import OBJECTIVES

PAGE = (Path(__file__).parents[2] / "pages" / "handover.qmd").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def block(words: str) -> str:
    """The one piece of code on the page that holds `words`."""
    (found,) = [source for source in BLOCKS if words in source]
    return found


LIST, SCORE, ALONE = block("rated = file"), block("def score"), block("import ast")
OWN_CODE = ("paper", "consistent", "geometric")  # objectives that the page folds in for
NEW = block("pairs = ") + "".join(block(f"def fold_in_{name}") for name in OWN_CODE)
HER_LIST = block("fold_in[")


def run(folder, source, *, without=("gapfm_teach", "numba", "pandas", "scipy")):
    """Run `source` in `folder`, in a new Python without these packages; the lines it prints."""
    hide = f"import sys\nsys.modules.update(dict.fromkeys({without!r}))\n"
    (folder / "program.py").write_text(hide + source, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-W", "error", "program.py"],
        cwd=folder, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def last(folder, source, shown, **options):
    """The value of the expression `shown` after `source` has run; arrays as lists."""
    source += f"\nimport json\nprint(json.dumps({shown}, default=lambda x: x.tolist()))\n"
    return json.loads(run(folder, source, **options)[-1])


def ratings(*, users=None, items=None, titles=None, max_grade=5):
    """60 users and 45 items, each user with some left to list."""
    made = simulate_ratings(60, 45, mean_ratings=15, max_grade=max_grade, random_state=4)
    return Ratings(
        made.indptr, made.indices, made.grades, n_items=45, max_grade=max_grade,
        users=users, items=items, titles=titles, source="made up",
    )  # fmt: skip


# As in real data: ids with gaps and in no order, titles with anything in them.
USERS = [7, 196, *range(1000, 1000 + 3 * 58, 3)]
ITEMS = [900, 258, 50, 181, *range(1682, 1682 - 2 * 41, -2)]
TITLES = [
    f"{first}{second}"
    for first, second in islice(
        product('"À日🎬\\', [f", {n} (19{n})" for n in range(10, 19)]), 45
    )
]


def trained(objective, data=None, **settings):
    data = data or ratings(users=USERS, items=ITEMS, titles=TITLES)
    common = {"n_iter": 25, "learning_rate": "auto", "reg": 0.02, "random_state": 1}
    return GAPfm(4, objective=objective, **(common | settings)).fit(data)


@pytest.fixture(scope="module", params=sorted(OBJECTIVES))
def saved(request, tmp_path_factory):
    """(a model, the folder with its file), for each objective."""
    folder, model = tmp_path_factory.mktemp(request.param), trained(request.param)
    model.save(folder / "model.npz")
    return model, folder


# ------------------------------------------------------------------ the code on the page


def test_the_list_takes_at_most_ten_lines():
    lines = [line for line in LIST.splitlines() if line.strip()]
    assert 5 <= len(lines) <= 10
    assert not [line for line in lines if ";" in line]
    assert {line for line in lines if "import" in line} == {
        "import json",
        "import numpy as np",
    }


@pytest.mark.processes
def test_ten_lines_print_the_titles_that_the_model_recommends(saved):
    model, folder = saved
    best = model.recommend(USERS.index(196))
    assert best.size == 10
    assert run(folder, LIST) == model.train_.titles[best].tolist()


@pytest.mark.processes
def test_the_package_is_out_of_reach_there(tmp_path):
    source = "try:\n    import gapfm_teach\nexcept ImportError:\n    print('none')"
    assert run(tmp_path, source) == ["none"]


@pytest.mark.processes
@pytest.mark.parametrize(
    ("users", "items"),
    [
        (["Zoë", '"q"\n', "日本", "", "\ud800"], ["a", "b", "ç", "🎬", "e,f", " g"]),
        ([5, -3, 2**62, 2**53 + 1, 0], [0.5, 1.0, 1e300, -2.5, 3.0, 0.1]),
    ],
    ids=["texts", "numbers"],
)
def test_without_titles_the_ids_are_shown_and_a_short_list_is_short(tmp_path, users, items):
    indptr, indices = [0, 4, 7, 9, 10, 11], [0, 1, 3, 5, 0, 1, 2, 2, 3, 4, 0]
    data = Ratings(indptr, indices, np.arange(11) % 3 + 1, users=users, items=items)
    model = trained("paper", data, n_iter=3)
    model.save(tmp_path / "model.npz")
    for user in users:
        source = LIST.replace("(196)", f"({user!r})")
        assert source.count(repr(user)) >= 1
        expected = [str(items[i]) for i in model.recommend(users.index(user))]
        assert run(tmp_path, source) == expected
    loaded = GAPfm.load(tmp_path / "model.npz").train_
    assert (loaded.users.tolist(), loaded.items.tolist()) == (users, items)


@pytest.mark.processes
def test_score_is_what_predict_gives_for_every_pair(saved):
    model, folder = saved
    found = last(folder, LIST + SCORE, f"[[score(u, i) for i in {ITEMS}] for u in {USERS}]")
    expected = [model.predict(user) for user in range(len(USERS))]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


PAIRS = {
    "few": [(50, 5), (181, 4), (258, 2)],
    "one": [(900, 3)],
    "equal grades": [(50, 2), (258, 2), (1682, 2), (1602, 2)],
    "all": [(item, k % 5 + 1) for k, item in enumerate(ITEMS)],
}


BOTH = (
    {},
    {"reg": 0.1, "n_iter": 200},
    {"learning_rate": 0.03, "init_scale": 0.5},
    {"max_grade": 1},
    {"max_grade": 9},
)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("objective", "settings"),
    [
        *product(OWN_CODE, BOTH),
        ("consistent", {"temperature": 0.2, "unrated_weight": 0.3}),
        ("geometric", {"temperature": 0.2, "unrated_weight": 0.3}),
        ("geometric", {"exponent": 0.5}),
        ("geometric", {"exponent": -1.0}),
    ],
)
def test_somebody_new_gets_the_factors_of_fold_in(tmp_path, objective, settings):

    def capped(pairs):
        return [(item, min(grade, top)) for item, grade in pairs]

    settings = dict(settings)
    top = settings.pop("max_grade", 5)
    data = ratings(users=USERS, items=ITEMS, titles=TITLES, max_grade=top)
    model = trained(objective, data, **settings)
    model.save(tmp_path / "model.npz")
    source = LIST + "found = []\n"
    for pairs in PAIRS.values():
        new, times = re.subn(r"^pairs = .*$", f"pairs = {capped(pairs)}", NEW, flags=re.M)
        assert times == 1
        source += new + HER_LIST + "found.append(u)\n"
    longest = 0.0
    for u, pairs in zip(last(tmp_path, source, "found"), PAIRS.values(), strict=True):
        items, grades = zip(*capped(pairs), strict=True)
        expected = model.fold_in([ITEMS.index(item) for item in items], grades)
        np.testing.assert_allclose(u, expected, rtol=0, atol=1e-8)
        longest = max(longest, np.linalg.norm(expected))
    assert longest > 0.1


@pytest.mark.processes
@pytest.mark.parametrize("objective", OWN_CODE)
def test_her_list_leaves_out_what_she_graded(tmp_path, objective):
    model = trained(objective)
    model.save(tmp_path / "model.npz")
    items = [ITEMS.index(item) for item in (50, 181, 258)]
    scores = model.item_factors_ @ model.fold_in(items, [5, 4, 2])
    scores += getattr(model, "item_bias_", 0.0)
    best = [i for i in np.argsort(-scores, kind="stable") if i not in items][:10]
    assert run(tmp_path, LIST + NEW + HER_LIST)[10:] == [TITLES[i] for i in best]


@pytest.mark.processes
def test_the_same_code_folds_in_for_average_precision(tmp_path):
    model = trained("average_precision")
    model.save(tmp_path / "model.npz")
    new, times = re.subn(r"^gains = .*$", "gains = np.ones(len(grades))", NEW, flags=re.M)
    assert times == 1
    found = last(tmp_path, LIST + new, "fold_in_consistent()")
    expected = model.fold_in([ITEMS.index(item) for item in (50, 181, 258)], [5, 4, 2])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.processes
def test_the_fold_in_of_the_page_refuses_files_it_does_not_fit(saved):
    model, folder = saved
    if model.objective not in OWN_CODE:
        with pytest.raises(AssertionError, match=f"KeyError: '{model.objective}'"):
            run(folder, LIST + NEW + HER_LIST)


@pytest.mark.processes
def test_it_is_read_with_the_standard_library_alone(saved):
    model, folder = saved
    without = ("gapfm_teach", "numpy")
    names = np.load(folder / "model.npz").files
    shown = f"[scores, header, {{name: array(archive, name) for name in {names}}}]"
    scores, header, arrays = last(folder, ALONE, shown, without=without)
    np.testing.assert_allclose(scores, model.predict(USERS.index(196)), rtol=1e-12)
    assert header["titles"] == TITLES
    with np.load(folder / "model.npz") as file:
        for name, (shape, numbers) in arrays.items():
            assert tuple(shape) == file[name].shape
            np.testing.assert_array_equal(numbers, file[name].ravel())


# ------------------------------------------------------------------ what the page says of the file


def table(label: str) -> list[list[str]]:
    """The cells of a table's rows; code without its quotes."""
    text = PAGE[: PAGE.index("{#tbl-handover-" + label)].rsplit("\n\n", 2)[-2]
    rows = [row.strip("| ").split(" | ") for row in text.splitlines()[2:]]
    return [[cell.strip().strip("`") for cell in row] for row in rows]


def test_the_page_lists_every_array_with_its_type_and_shape(saved):
    model, folder = saved
    train = model.train_
    sizes = {"M": train.n_users, "N": train.n_items, "D": 4, "Y": train.n_ratings, "T": 25}
    with np.load(folder / "model.npz") as file:
        sizes["B"] = file["header"].size
        expected = {
            name: (dtype, eval(shape, sizes)) for name, dtype, shape, _ in table("arrays")
        }
        assert {n: (str(file[n].dtype), file[n].shape) for n in file.files} == expected
        assert all(file[name].flags.c_contiguous for name in file.files)


def test_the_page_lists_every_field_of_the_header(saved):
    model, folder = saved
    header = json.loads(np.load(folder / "model.npz")["header"].tobytes())
    fields, arguments = (dict(table(label)) for label in ("header", "params"))
    assert set(fields) == set(header)
    assert fields["version"] == str(header["version"])
    assert fields["format"] == json.dumps(header["format"])
    left_out = {name for name, meaning in arguments.items() if "left out" in meaning}
    present = set(arguments) - (left_out if model.objective == "paper" else set())
    present -= {"exponent"} if model.objective != "geometric" else set()
    assert set(arguments) & set(header["params"]) == present


# ------------------------------------------------------------------ saving and loading


@pytest.mark.parametrize(
    "users",
    [
        np.array(["2026-01-01", "2026-01-02", "2026-01-03"], dtype="M8[D]"),
        np.array([b"a", b"b", b"c"]),
        np.array([1, "b", "c"], dtype=object),
        [(1, 2), (3, 4), (5, 6)],
    ],
    ids=["dates", "bytes", "mixed", "tuples"],
)
def test_ids_that_would_come_back_changed_are_refused_and_leave_the_file(tmp_path, users):
    trained("paper", n_iter=1).save(tmp_path / "model.npz")
    before = (tmp_path / "model.npz").read_bytes()
    array = np.empty(3, dtype=object)
    array[:] = users
    data = Ratings(
        [0, 1, 2, 3],
        [0, 1, 0],
        [1, 2, 3],
        users=array if isinstance(users, list) else users,
    )
    with pytest.raises(
        ValueError, match=r"users of mixed .*; make them all numbers or all text"
    ):
        trained("paper", data, n_iter=1).save(tmp_path / "model.npz")
    assert (tmp_path / "model.npz").read_bytes() == before


@pytest.mark.parametrize("objective", sorted(OBJECTIVES))
def test_grades_that_nobody_gave_still_belong_to_the_scale(tmp_path, objective):
    data = Ratings([0, 2, 3, 4], [0, 1, 1, 2], [1, 3, 2, 3], n_items=5, max_grade=5)
    model = trained(objective, data)
    model.save(tmp_path / "model.npz")
    loaded = GAPfm.load(tmp_path / "model.npz")
    assert loaded.train_.max_grade == 5
    for grades in ([5, 1], [3, 2]):
        expected = model.fold_in([0, 2], grades)
        np.testing.assert_array_equal(loaded.fold_in([0, 2], grades), expected)


def test_a_save_that_breaks_off_leaves_the_file_before(tmp_path, monkeypatch):
    model = trained("paper", n_iter=2)
    model.save(tmp_path / "model.npz")
    whole, halves = np.lib.format.write_array, []

    def stop(file, array, *args, **options):
        halves.append(array.shape)
        if len(halves) == 3:
            raise KeyboardInterrupt
        whole(file, array, *args, **options)

    monkeypatch.setattr(np.lib.format, "write_array", stop)
    with pytest.raises(KeyboardInterrupt):
        trained("paper", n_iter=9).save(tmp_path / "model.npz")
    monkeypatch.undo()
    assert len(halves) == 3
    assert os.listdir(tmp_path) == ["model.npz"]
    assert GAPfm.load(tmp_path / "model.npz").n_iter_ == 2


def test_no_damage_goes_unnoticed(tmp_path, saved):
    """A cut or changed file is refused by name, unless what changed does not matter."""
    model, folder = saved
    content, path = (folder / "model.npz").read_bytes(), tmp_path / "model.npz"
    rng = np.random.default_rng(0)
    damaged = [content[:n] for n in rng.integers(0, len(content), 30)]
    for place in rng.integers(0, len(content), 120):
        damaged.append(
            content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
        )
    refused = []
    for change in damaged:
        path.write_bytes(change)
        try:
            same = GAPfm.load(path)
        except ValueError as error:
            refused.append(str(error))
            continue
        np.testing.assert_array_equal(same.predict(3), model.predict(3))
        assert same.train_.titles.tolist() == TITLES
    assert len(refused) > 100
    assert all("model.npz is not a saved GAPfm" in message for message in refused)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"users": USERS[:-1]}, "users has", id="a user too few"),
        ({"titles": None}, "titles"),
        ({"version": 2}, "made by an older version.*version 2.*train it again"),
        (
            {"params": {"n_factors": 4, "learning_rate": 0.1, "objective": "unheard of"}},
            "objective must be one of",
        ),
        *[
            ({"learning_rate_": value}, "learning_rate_ must be .*above 0|number")
            for value in (float("nan"), -1, 0, float("inf"), "0.1", [0.1], True, None)
        ],
        *[
            ({"max_grade": value}, "max_grade")
            for value in (float("nan"), -1, 0, 128, 5.5, "5", True, 2)
        ],
        *[
            ({"params": {"n_factors": 4, "learning_rate": 0.1} | change}, words)
            for change, words in [
                ({"n_factors": 4.0}, "n_factors must be a whole number"),
                ({"n_factors": 5}, r"user_factors has .* \(60, 4\), not"),
                ({"reg": float("nan")}, "reg must be finite"),
                ({"reg": -1}, "reg must be finite"),
                ({"reg": "0.1"}, "reg must be a number"),
                ({"learning_rate": float("inf")}, "learning_rate must be finite"),
                ({"n_iter": float("nan")}, "n_iter must be a whole number"),
                ({"objective": "consistent", "temperature": -1}, "temperature must be"),
                (
                    {"objective": "consistent", "unrated_weight": np.nan},
                    "unrated_weight must be",
                ),
                ({"unheard_of": 1}, "unheard_of"),
            ]
        ],
    ],
)
def test_an_edited_header_is_refused_by_name(tmp_path, saved, change, words):
    _, folder = saved
    with np.load(folder / "model.npz") as file:
        stored = dict(file)
    header = json.loads(stored["header"].tobytes()) | change
    if change == {"titles": None}:
        del header["titles"]
    bytes_ = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(tmp_path / "edited.npz", **(stored | {"header": bytes_}))
    with pytest.raises(ValueError, match=words) as caught:
        GAPfm.load(tmp_path / "edited.npz")
    assert "edited.npz" in str(caught.value)


@pytest.mark.parametrize("name", ["user_factors", "item_factors", "item_bias"])
@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(complex),
        lambda x: x.astype(object),
        lambda x: x * np.nan,
        lambda x: np.where(x == x.flat[0], np.inf, x),
    ],
    ids=["complex", "object", "nan", "inf"],
)
def test_factors_that_are_no_finite_numbers_are_refused(tmp_path, change, name):
    path = tmp_path / "model.npz"
    trained("consistent", n_iter=2).save(path)
    with np.load(path) as file:
        stored = dict(file)
    np.savez(path, **(stored | {name: change(stored[name])}))
    words = rf"model\.npz is not a saved GAPfm \(({name} must be|Object arrays)"
    with pytest.raises(ValueError, match=words):
        GAPfm.load(path)


def test_factors_in_another_order_or_of_fewer_digits_are_the_same_numbers(tmp_path):
    path, model = tmp_path / "model.npz", trained("paper", n_iter=2)
    model.user_factors_ = model.user_factors_.astype(np.float32).astype(np.float64)
    model.save(path)
    with np.load(path) as file:
        stored = dict(file)
    for same in (np.asfortranarray, lambda U: U.astype(">f8"), lambda U: U.astype("f4")):
        np.savez(path, **(stored | {"user_factors": same(stored["user_factors"])}))
        loaded = GAPfm.load(path)
        np.testing.assert_array_equal(loaded.predict(3), model.predict(3))
        assert loaded.user_factors_.flags.c_contiguous
        assert loaded.user_factors_.dtype == np.float64


@pytest.mark.slow
def test_a_score_of_the_papers_objective_is_as_large_as_the_page_says():
    """Of the user and the film that its line scores, "in the thousands"; and g of it is 1."""
    assert "prints a number in the thousands" in PAGE
    ratings = load_movielens("100k")
    model = GAPfm(random_state=0).fit(ratings)
    user, item = (
        list(ids).index(one) for ids, one in ((ratings.users, 196), (ratings.items, 50))
    )
    score = model.predict(user, np.array([item]))[0]
    assert 1000 < score < 10_000
    assert 1 / (1 + np.exp(-score)) == 1
