"""The parts of docs/ that are made from the code: contract, errors, settings and metrics."""
