"""Engines: they count records by their keys and a target where the records are, and let only counts leave."""
