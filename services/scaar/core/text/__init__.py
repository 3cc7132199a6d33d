"""Words, sentences and word classes of a text."""
