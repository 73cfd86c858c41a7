"""The public names of :mod:`unveil.show.report`."""

from unveil.show.report import *  # noqa: F403
from unveil.show.report import __all__ as __all__
