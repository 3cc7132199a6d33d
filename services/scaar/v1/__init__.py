"""The contract as code, generated from proto/scaar/v1 by `make proto`; never edited."""
