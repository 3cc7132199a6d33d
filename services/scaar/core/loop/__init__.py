"""The loop that answers a question."""
