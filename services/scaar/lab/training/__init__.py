"""Training the lab's two models from nothing, in JAX."""
