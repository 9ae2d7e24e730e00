"""For `pytest --nbval notebooks`: what an output needs, and when two of them are equal."""

import os

from nbval.plugin import IPyNbCell

from tools.make import STORED
from tools.printed import agree

sanitize = IPyNbCell.sanitize


class Printed(str):
    """An output's text, equal to another where `agree` says so."""

    __hash__ = None

    def __eq__(self, other):
        return agree(self, other)

    def __ne__(self, other):
        return not agree(self, other)


def pytest_configure(config):
    """Outputs are stored without progress bars or live widgets, by the Python that runs pytest."""
    os.environ |= STORED
    config.option.nbval_current_env = not config.option.nbval_kernel_name
    IPyNbCell.sanitize = lambda cell, text: Printed(sanitize(cell, text))
