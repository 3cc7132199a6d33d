"""Reads the passages of a corpus: parses, validates, bounds and splits them."""
