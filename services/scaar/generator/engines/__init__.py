"""The generator's engines, one module each."""
