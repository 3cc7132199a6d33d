"""Benchmarks of scaar: ratios measured alternately in one run, printed by ``make bench``."""
