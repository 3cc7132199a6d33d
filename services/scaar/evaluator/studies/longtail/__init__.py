"""Labels of the questions that are in the long tail of a model's knowledge (GECE)."""
