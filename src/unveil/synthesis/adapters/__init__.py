"""Synthesizers of others, made to be called like those of this package: libraries, and programs of any language."""
