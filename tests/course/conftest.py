"""The class edition as the sources of this checkout make it."""

import pytest

from gapfm_teach.course.edition import edition
from gapfm_teach.course.sources import CHECKOUT


@pytest.fixture(scope="session")
def made():
    """{file: notebook}, solutions in their folds."""
    return edition(CHECKOUT, solutions=True)
