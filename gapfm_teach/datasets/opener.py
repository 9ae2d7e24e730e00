"""Open an address with today's certificates, and give up on a server that only drips.

An opener of our own for each download: the one that urllib keeps for all of a process holds on
to the certificates of its first use, so that corrected ones would count after a restart only.
"""

import http.client
import io
import ssl
import time
import urllib.request

TIMEOUT = 30  # seconds without a byte before a server counts as silent
# Each minute must bring this many bytes, 4 KiB a second: a line that a class shares does.
WINDOW = 60
LEAST = 240 << 10


def open_url(url: str):
    """Return the answer of `url`; certificates are verified, those of SSL_CERT_FILE as it is now.

    Raises what urllib raises, and ValueError from here or from reading when bytes come too
    slowly, those before the content included.
    """
    return urllib.request.build_opener(_Http, _Https).open(url, timeout=TIMEOUT)


class _Paced(io.RawIOBase):
    """Passes on what comes over a socket, as long as enough comes."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._begin()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int | None:
        count = self._raw.readinto(buffer)
        self._received += count or 0
        if count and time.monotonic() - self._since > WINDOW:
            if self._received < LEAST:
                raise ValueError(
                    f"too slow: {self._received:,} bytes in {WINDOW} seconds, "
                    f"fewer than {LEAST:,}"
                )
            self._begin()
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()

    def _begin(self) -> None:
        self._since, self._received = time.monotonic(), 0


class _Response(http.client.HTTPResponse):
    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.fp = io.BufferedReader(_Paced(self.fp.detach()))


class _HttpConnection(http.client.HTTPConnection):
    response_class = _Response


class _HttpsConnection(http.client.HTTPSConnection):
    response_class = _Response


class _Http(urllib.request.HTTPHandler):
    def http_open(self, request):
        return self.do_open(_HttpConnection, request)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, request):
        context = ssl.create_default_context()
        return self.do_open(_HttpsConnection, request, context=context)
