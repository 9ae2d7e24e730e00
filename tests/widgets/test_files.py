"""The reader's own files in the page: read as `load_movielens` reads them, refused in the same words."""

import base64
import io
import re
import zipfile

import numpy as np
import pytest
from bare_page import open_bare
from movielens_files import (
    CSV,
    DAT,
    MOVIES_CSV,
    MOVIES_DAT,
    SMALL_100K,
    SMALL_CSV,
    U_DATA,
    U_ITEM,
    accept_small,  # noqa: F401
    make_zip,
)

from gapfm_teach import Ratings, load_movielens, simulate_ratings, split_given

HEADER = "userId,movieId,rating,timestamp"
READ = """async ([files, split]) => {
  const of = ([name, text]) => new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name);
  try {
    const read = await modules.files.readRatings(files.map(of));
    const made = split ? modules.files.splitGiven(read) : read;
    return JSON.parse(JSON.stringify(made, (_, v) => ArrayBuffer.isView(v) ? Array.from(v) : v));
  } catch (error) { return error.message; }
}"""


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    page = open_bare(browser, tmp_path_factory.mktemp("page"))
    yield page
    page.context.close()


def read(page, files: dict[str, bytes], split=False):
    """What the page makes of these files: the ratings, or what it says is wrong."""
    sent = [[name, base64.b64encode(content).decode()] for name, content in files.items()]
    return page.evaluate(READ, [sent, split])


def zipped(path, files, method=zipfile.ZIP_DEFLATED) -> bytes:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path.read_bytes()


def check(ours, ratings) -> None:
    """The page has read what Python has."""
    assert isinstance(ours, dict), ours
    assert (ours["nUsers"], ours["nItems"]) == (ratings.n_users, ratings.n_items)
    assert ours["maxGrade"] == ratings.max_grade
    for name, theirs in [
        ("indptr", ratings.indptr), ("items", ratings.indices), ("grades", ratings.grades),
        ("users", ratings.users), ("titles", ratings.titles),
    ]:  # fmt: skip
        assert ours[name] == theirs.tolist(), name


DATS = {
    half: {
        "ml/ratings.dat": DAT.format(half=half).encode(),
        "ml/movies.dat": MOVIES_DAT.encode(),
    }
    for half in (4, 3.5)
}
EDITIONS = [("100k", SMALL_100K), ("20m", SMALL_CSV), ("1m", DATS[4]), ("10m", DATS[3.5])]


@pytest.mark.parametrize(("name", "files"), EDITIONS, ids=[name for name, _ in EDITIONS])
@pytest.mark.usefixtures("accept_small")
def test_each_layout_is_read_as_python_reads_it(page, tmp_path, name, files):
    member = next(iter(files)).split("/")[-1]
    files = files | {"ml/README": b"a file more", f"ml/old/{member}": b"nested deeper"}
    packed = make_zip(tmp_path / "ml.zip", files)
    ratings = load_movielens(name, path=packed)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        check(read(page, {"ml.zip": zipped(tmp_path / "one.zip", files, method)}), ratings)
    unpacked = {
        name.split("/")[-1]: content for name, content in files.items() if "old" not in name
    }
    check(read(page, unpacked), ratings)
    alone = read(page, {member.replace("s.", "s (1)."): unpacked[member]})
    assert alone["items"] == ratings.indices.tolist()
    assert alone["titles"] == [f"film {item}" for item in ratings.items]


def rated(*lines: str) -> bytes:
    return "\n".join([HEADER, *lines]).encode()


FAULTS = [
    ("100k", "u.data", b"1\t2\t6\t4\n"),
    ("100k", "u.data", b"1\t2\t3.5\t4\n"),
    ("100k", "u.data", b"\n1\t12\t3\t4\n1\t-2\t3\t4\n"),
    ("100k", "u.data", b"1\t2147483648\t3\t4\n"),
    ("100k", "u.data", b'1\t2\t3\t4\n"1\t3\t4\t5\n'),
    ("100k", "u.data", b"1\t2\t3\t4\n1\t3\t4\t5\t6\n"),
    ("100k", "u.data", b"it's ten o'clock\n"),
    ("100k", "u.data", b"\n \n"),
    ("100k", "u.item", b"12|A\n"),
    ("10m", "ratings.dat", b"1::122::0.2::4\n"),
    ("10m", "ratings.dat", b"1::122::3::4\n1:7:2:7:3\n"),
    ("20m", "ratings.csv", b"1,2,3.5,1112486027\n"),
    ("20m", "ratings.csv", b"userId,movieId,userId,rating\n1,2,3,4\n"),
    ("20m", "ratings.csv", rated()),
    ("20m", "ratings.csv", rated('"1","2","3.5","4"')),
    ("20m", "ratings.csv", rated("1,2,3,4", '1,"3,4,5')),
    ("20m", "ratings.csv", rated("1,2,3,4,5")),
    ("20m", "movies.csv", b'movieId,title,genres\n2,"J,x\n'),
    ("20m", "movies.csv", b"movieId,title,genres\n2,J, K,x\n"),
    ("20m", "movies.csv", MOVIES_CSV.partition("\n")[2].encode()),
]
# Python reads these, or finds the fault in the table made of them.
FAULTS_OF_THE_PAGE = [
    (
        "u.data",
        b"1\t12\t3\t4\n2\t12\t3\t4\n\n1\t12\t5\t9\n",
        "line 4: .*second rating of film 12",
    ),
    ("u.data", b"1\t1\t3\t4\n", "u.data rates film 1, which u.item does not have"),
    ("u.item", b"12|A|x\n12|B|x\n", "line 2: .*names film 12 a second time"),
]


@pytest.mark.parametrize(("name", "member", "content"), FAULTS)
@pytest.mark.usefixtures("accept_small")
def test_a_fault_has_the_same_words_as_in_python(page, tmp_path, name, member, content):
    files = {n.split("/")[-1]: c for n, c in dict(EDITIONS)[name].items()} | {
        member: content
    }
    path = make_zip(tmp_path / "ml.zip", files)
    with pytest.raises(ValueError, match=r"\w") as error:
        load_movielens(name, path=path)
    assert read(page, files) == str(error.value)
    assert read(page, {"ml.zip": path.read_bytes()}) == str(error.value)


@pytest.mark.parametrize(("member", "content", "words"), FAULTS_OF_THE_PAGE)
def test_the_page_names_the_line_of_a_repeated_rating_or_film(page, member, content, words):
    files = {n.split("/")[-1]: c for n, c in SMALL_100K.items()} | {member: content}
    assert re.search(words, read(page, files))


@pytest.mark.usefixtures("accept_small")
def test_a_damaged_or_wrong_archive_has_the_same_words(page, tmp_path):
    whole = zipped(tmp_path / "a.zip", {"ml/u.data": U_DATA * 50, "ml/u.item": U_ITEM})
    place = whole.index(b"u.data") + 15
    broken = whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]
    stored = zipped(tmp_path / "s.zip", SMALL_100K, zipfile.ZIP_STORED)
    changed = stored.replace(b"881250949", b"881250948", 1)
    for damaged in (
        whole[:-40],
        b"no zip at all",
        b"",
        changed,
        zipped(tmp_path / "b.zip", {"ml/x.txt": "nothing"}),
        zipped(tmp_path / "c.zip", {"u.data": U_DATA}),
    ):
        path = tmp_path / "ml.zip"
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"\w") as error:
            load_movielens("100k", path=path)
        words = str(error.value).replace(str(tmp_path) + "/", "")
        theirs = words.replace("u.data, ml-100k.inter", "u.data, ratings.dat, ratings.csv")
        assert read(page, {"ml.zip": damaged}) == theirs
    words = read(page, {"ml.zip": broken})
    assert words.startswith("u.data in ml.zip is damaged (")
    assert words.endswith("); get the file again")


def test_what_claims_to_be_small_and_is_not_is_refused(page, tmp_path):
    """The header says ten bytes, the stream holds millions."""
    whole = zipped(tmp_path / "a.zip", {"u.data": bytes(10_000_000), "u.item": U_ITEM})
    size = (10_000_000).to_bytes(4, "little")
    words = read(page, {"ml.zip": whole.replace(size, (10).to_bytes(4, "little"))})
    assert (
        words
        == "u.data in ml.zip is damaged (Bad CRC-32 for file 'u.data'); get the file again"
    )
    huge = whole.replace(size, (2**31).to_bytes(4, "little"))
    words = read(page, {"ml.zip": huge})
    assert words.startswith("u.data in ml.zip holds 2,147,483,648 bytes, more than")
    assert words.endswith("take a smaller data set")


def test_a_plain_file_that_is_too_large_is_not_read(page):
    words = page.evaluate("""async () => {
      const file = new File(["1\\t1\\t5\\t0\\n"], "u.data");
      Object.defineProperty(file, "size", { value: 2 ** 31 });
      return modules.files.readRatings([file]).catch(({ message }) => message);
    }""")
    assert words.startswith("u.data holds 2,147,483,648 bytes, more than")


def test_other_files_are_refused_with_the_names_of_those_that_are_read(page):
    words = "notes.txt holds none of u.data, ratings.dat, ratings.csv; is it the right data set?"
    assert read(page, {"notes.txt": b"1\t2\t3\t4\n"}) == words


def test_the_name_that_is_said_is_that_of_the_ratings(page):
    lines = "".join(f"1\t{film}\t3\t4\n" for film in range(30)).encode()
    films = "".join(f"{film}|A|x\n" for film in range(30)).encode()
    assert read(page, {"u.item": films, "u.data": lines})["name"] == "u.data"


@pytest.mark.parametrize("names", [["u.data", "ratings.csv"], ["a.zip", "b.ZIP"]])
def test_two_data_sets_at_once_are_refused(page, names):
    words = read(page, dict.fromkeys([*names, "u.item"], U_DATA.encode()))
    assert words == f"{' and '.join(names)} are 2 data sets; give one at a time"


@pytest.mark.parametrize(("first", "more"), ['""', '"a', ",,"])
def test_a_line_without_end_is_refused_in_words(page, first, more):
    """Too long to be searched for quotes: a regular expression would run out of its stack."""
    words = page.evaluate(
        """async ([first, more]) => {
          const file = new File([first + more.repeat(3e7)], "ratings.csv");
          return modules.files.readRatings([file]).catch(({ message }) => message);
        }""",
        [first, more],
    )
    assert words.startswith(f"ratings.csv, line 1: '{first}{79 * more}' does not name")


def test_given_10_takes_ten_and_ten_others_of_each_user_who_has_twenty(page):
    ratings = simulate_ratings(60, 120, mean_ratings=30, random_state=0)
    frame = ratings.to_frame()
    lines = frame.assign(time=1)[["user", "item", "grade", "time"]].to_csv(
        sep="\t", header=False, index=False
    )
    ours = read(page, {"u.data": lines.encode()}, split=True)
    train, _ = split_given(ratings, 10, random_state=0)
    assert ours["users"] == train.users.tolist()
    grade_of = {
        (u, i): g for u, i, g in frame[["user", "item", "grade"]].itertuples(index=False)
    }
    film_ids = np.unique(frame["item"])
    drawn = []
    for m, user in enumerate(ours["users"]):
        rows = []
        for part in (ours["given"], ours["held"]):
            row = slice(*part["indptr"][m : m + 2])
            items = part["items"][row]
            assert items == sorted(set(items))
            assert len(items) == 10
            assert part["grades"][row] == [grade_of[user, film_ids[i]] for i in items]
            rows.append(set(items))
        assert not rows[0] & rows[1]
        drawn.append(
            np.mean([film_ids[i] for i in rows[0]])
            - np.mean([film_ids[i] for i in rows[1]])
        )
    assert abs(np.mean(drawn)) < 8  # neither part has the first films
    few = "\n".join(lines.splitlines()[:5]).encode()
    with pytest.raises(
        ValueError, match="at least 20 ratings, and the most active one has 5"
    ):
        split_given(Ratings([0, 5], range(5), [3] * 5), 10)
    assert read(page, {"u.data": few}, split=True) == (
        "u.data has too few ratings of each user: 10 are trained on and 10 others tested on, and "
        "the most active user has 5; take a larger data set, with users of 20 ratings or more"
    )


def test_a_zip_with_a_comment_is_still_one(page, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = b"as downloaded " * 100
        archive.writestr("x/ratings.csv", CSV)
        archive.writestr("x/movies.csv", MOVIES_CSV)
    assert read(page, {"x.zip": buffer.getvalue()})["maxGrade"] == 10
