"""The public names of :mod:`unveil._rapid`."""

from unveil._rapid import *  # noqa: F403
from unveil._rapid import __all__ as __all__
