"""The evaluations of record: which are run, and docs/results.md made of what they left."""
