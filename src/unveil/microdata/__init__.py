"""Reading files and frames, and coding an original and its releases jointly."""

from unveil.microdata.column import CodedColumn
from unveil.microdata.files import open_source as read
from unveil.microdata.pair import Pair
from unveil.microdata.schema import Schema, read_schema
from unveil.microdata.source import Source, Variable

__all__ = ["CodedColumn", "Pair", "Schema", "Source", "Variable", "read", "read_schema"]
