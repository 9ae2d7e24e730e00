"""The package is described in pyproject.toml; here the notebooks of the course are put into it."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
HOME = Path("gapfm_teach", "course", "sources")
WANTED = ("references.bib", "notation.qmd", "notebooks/*.ipynb", "notebooks/results/*.csv")


class BuildWithNotebooks(build_py):
    """An editable package reads them where they lie; another one gets copies."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        home = Path(self.build_lib, HOME)
        shutil.rmtree(home, ignore_errors=True)  # of an earlier build
        for pattern in WANTED:
            found = sorted(ROOT.glob(pattern))
            if not found:
                raise FileNotFoundError(f"{pattern} is missing beside setup.py")
            for path in found:
                copy = home / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)


setup(cmdclass={"build_py": BuildWithNotebooks})
