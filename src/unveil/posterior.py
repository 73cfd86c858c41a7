"""The public names of :mod:`unveil._posterior`."""

from unveil._posterior import *  # noqa: F403
from unveil._posterior import __all__ as __all__
