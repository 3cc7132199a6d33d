"""The scorer's engines, one module each."""
