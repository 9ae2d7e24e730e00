"""What libraries announce to take away must not go unheard while tests run."""

import warnings

import pytest


@pytest.mark.parametrize(
    "kind", [DeprecationWarning, PendingDeprecationWarning, FutureWarning]
)
@pytest.mark.parametrize("module", ["gapfm_teach", "gapfm_teach.datasets.simulate"])
def test_a_warning_raised_in_this_package_is_an_error(kind, module):
    with pytest.raises(kind, match="will be taken away"):
        warnings.warn_explicit("will be taken away", kind, "file.py", 1, module)


def test_one_raised_elsewhere_is_none():
    with pytest.warns(DeprecationWarning, match="will be taken away"):
        warnings.warn_explicit("will be taken away", DeprecationWarning, "f.py", 1, "numpy")
