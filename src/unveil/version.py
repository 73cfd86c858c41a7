"""The version of the package, for the documents that name it."""

__all__ = ["__version__"]

__version__ = "0.1.0"
