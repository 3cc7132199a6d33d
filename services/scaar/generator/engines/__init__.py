"""The generator's engines, one module each, and their packages."""
