"""The evaluations of record: their plan, and docs/results.md made from their results."""
