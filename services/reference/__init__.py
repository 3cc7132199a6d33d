"""The parts of docs/ that are made from the code: the contract, its errors, and the settings."""
