"""Which questions of a data set are of the long tail of what a model knows: GECE's label."""
