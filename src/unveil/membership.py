"""The public names of :mod:`unveil._membership`."""

from unveil._membership import *  # noqa: F403
from unveil._membership import __all__ as __all__
