"""What results depend on besides the data: Python and the packages that compute them."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("gapfm-teach", "numpy", "scipy", "numba", "scikit-learn", "scikit-surprise")


def versions() -> str:
    """Python and the packages that results depend on, with their versions."""
    return ", ".join([f"Python {platform.python_version()}", *_packages()])


def _packages() -> Iterator[str]:
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"{package} missing"
