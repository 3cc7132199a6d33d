"""The generator: a language model that continues text, token by token."""
