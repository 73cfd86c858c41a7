"""The public names of :mod:`unveil._conformance`."""

from unveil._conformance import *  # noqa: F403
from unveil._conformance import __all__ as __all__
