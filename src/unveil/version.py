"""The version of the package, for the documents that name it."""

__version__ = "0.1.0"
