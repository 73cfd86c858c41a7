"""CPU seconds and memory of unveil beside its peers, as one table; run ``python -m benchmarks``."""
