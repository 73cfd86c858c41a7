"""The public names of :mod:`unveil._utility`."""

from unveil._utility import *  # noqa: F403
from unveil._utility import __all__ as __all__
