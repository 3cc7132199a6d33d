"""Gates and routers, trained on answers without and with retrieval, and compared."""

REPEATS = 3
"""Default number of repetitions of the cross-validation, each with other folds."""
