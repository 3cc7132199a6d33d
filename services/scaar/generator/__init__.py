"""Generator service: a language model that continues text, token by token."""
