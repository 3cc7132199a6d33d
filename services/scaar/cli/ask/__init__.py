"""Commands that answer questions: ask, demo."""
