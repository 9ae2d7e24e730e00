"""The class edition as the sources of this checkout make it."""

import pytest

from gapfm_course.class_edition.edition import edition
from gapfm_course.class_edition.sources import CHECKOUT


@pytest.fixture(scope="session")
def made():
    """{file: notebook}, solutions in their folds."""
    return edition(CHECKOUT, solutions=True)
