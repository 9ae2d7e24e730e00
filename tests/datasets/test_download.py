"""Downloads, from a local server that does what servers do."""

import contextlib
import hashlib
import io
import itertools
import re
import socket

import pytest
from movielens_files import CERTIFICATES

from gapfm_teach.datasets import DownloadError, download, opener

MOST = 1000  # bytes that the files of these tests may have


def fetch_fails(tmp_path, url, **options):
    """The message of a failed fetch, after checking that the old file is all that is left."""
    target = tmp_path / "target" / "file.zip"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(b"old")
    with pytest.raises(DownloadError) as failure:
        download.fetch([url], target, most=MOST, **options)
    assert [file.name for file in target.parent.iterdir()] == ["file.zip"]
    assert target.read_bytes() == b"old"
    return str(failure.value)


def test_fetch_takes_the_first_source_that_works_and_checks_it(tmp_path, serve):
    (serve.root / "file").write_bytes(b"content")
    (serve.root / "wrong").write_bytes(b"something else")
    base, target = serve(), tmp_path / "new" / "folder" / "file"
    urls = [f"{base}/missing", f"{base}/wrong", f"{base}/file"]
    used = download.fetch(urls, target, most=MOST, md5=hashlib.md5(b"content").hexdigest())
    assert used == urls[2]
    assert target.read_bytes() == b"content"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("/missing", "the server answered 404"),
        ("/short", "cut short: 9 of 1000 bytes came"),
        ("/garbage", "garbage: .*this is not HTTP"),
        ("/endless", "too large: more than 1,000 bytes came"),
        ("/large", "too large: 1,001 bytes, expected 1,000 at most"),
        ("/wrong", "wrong file: its MD5 is .*, expected 0000"),
    ],
)
def test_a_failed_fetch_says_why_and_leaves_nothing_behind(tmp_path, serve, place, message):
    (serve.root / "wrong").write_bytes(b"something else")
    (serve.root / "large").write_bytes(bytes(MOST + 1))
    said = fetch_fails(tmp_path, serve() + place, md5="0000")
    assert re.search(message, said)


def test_a_fetch_without_a_server_or_a_network_says_so(tmp_path, monkeypatch):
    assert "refused" in fetch_fails(tmp_path, "http://localhost:1/file")

    def unknown(*_arguments, **_options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert "no network" in fetch_fails(tmp_path, "http://localhost:1/file")


def test_a_silent_server_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(opener, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = fetch_fails(tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}/file")
    assert "no answer within 0.2 seconds" in said


@pytest.mark.parametrize("place", ["/drip", "/drip-before-the-content"])
@pytest.mark.parametrize("certificate", [None, "valid.pem"])
def test_a_server_that_drips_is_given_up(tmp_path, serve, monkeypatch, place, certificate):
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "valid.pem"))
    monkeypatch.setattr(opener, "WINDOW", 0.1)
    monkeypatch.setattr(opener, "LEAST", 10_000)
    said = fetch_fails(tmp_path, serve(certificate) + place)
    assert "too slow: " in said
    assert "bytes in 0.1 seconds, fewer than 10,000" in said


@pytest.mark.parametrize(("speed", "lasts"), [(5000, 3600), (3000, 60)])
def test_slow_lines_pass_and_slower_ones_cost_a_minute(monkeypatch, speed, lasts):
    """By a clock that goes on by a second with each byte-string that comes."""
    clock = itertools.count()
    monkeypatch.setattr(opener.time, "monotonic", lambda: next(clock))
    line = io.BytesIO(bytes(speed * 3600))
    paced, seconds = opener._Paced(line), 0
    with contextlib.suppress(ValueError):
        while paced.readinto(bytearray(speed)):
            seconds += 1
    assert seconds == lasts


def test_certificates_are_always_verified(tmp_path, serve, monkeypatch):
    (serve.root / "file").write_bytes(b"content")
    url = serve("valid.pem") + "/file"
    assert "TLS certificate is not valid (self-signed" in fetch_fails(tmp_path, url)
    # With the certificate trusted, and nothing else changed, the same address works.
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATES / "valid.pem"))
    assert download.fetch([url], tmp_path / "file", most=MOST) == url


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
