"""The public names of :mod:`unveil._intruders`."""

from unveil._intruders import *  # noqa: F403
from unveil._intruders import __all__ as __all__
