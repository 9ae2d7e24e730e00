"""A stage for one explorable, in the browser."""

import pytest
from stage import Stage

from gapfm_course.explorables import Page


@pytest.fixture
def show(browser, tmp_path):
    """`show(view, data, **options)` opens a view on a page of its own, a `Stage`, which is closed
    after the test and must have had nothing to complain of."""
    opened = []

    def open_stage(view, data, **options):
        opened.append(Stage(browser, tmp_path, Page(view, data, "a view"), **options))
        return opened[-1]

    yield open_stage
    for stage in opened:
        stage.close()
