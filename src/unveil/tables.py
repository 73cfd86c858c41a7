"""The public names of :mod:`unveil._tables`."""

from unveil._tables import *  # noqa: F403
from unveil._tables import __all__ as __all__
