"""Training of the lab's two kinds of models from scratch, in JAX."""
