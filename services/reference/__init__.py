"""Generators of the parts of docs/ made from code: contract, errors, settings and metrics."""
