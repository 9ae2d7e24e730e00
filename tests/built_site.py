"""The site that tests are to look at instead of one that they build; None where they build one."""

import os

BUILT = os.environ.get("GAPFM_TEACH_SITE")
