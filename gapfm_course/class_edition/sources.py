"""Where the notebooks are that an edition is made of: in the checkout, or in what was installed."""

from pathlib import Path

NOTEBOOKS = "notebooks"
BIBLIOGRAPHY = "pages/references.bib"
NOTATION = "pages/notation.qmd"

# The build puts copies here; in a checkout the files themselves are beside the package.
INSTALLED = Path(__file__).parent / "sources"
CHECKOUT = Path(__file__).parents[2]


def sources() -> Path:
    """The folder that holds `notebooks/`, with their results, and the bibliography.

    Raises FileNotFoundError where there is none.
    """
    for root in (INSTALLED, CHECKOUT):
        if (root / BIBLIOGRAPHY).is_file() and (root / NOTEBOOKS).is_dir():
            return root
    raise FileNotFoundError(
        f"no notebooks came with gapfm_teach: neither {INSTALLED} nor {CHECKOUT} holds "
        f"{NOTEBOOKS}/ and {BIBLIOGRAPHY}; install the package anew from its wheel or checkout"
    )
