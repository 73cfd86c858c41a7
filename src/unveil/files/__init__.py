"""Files: read, written, and described by schemas; no measure is known here."""

from unveil.files.opening import read
from unveil.files.schema import Schema, read_schema
from unveil.files.source import Source, Variable

__all__ = ["Schema", "Source", "Variable", "read", "read_schema"]
