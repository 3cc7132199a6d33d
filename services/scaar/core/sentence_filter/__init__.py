"""Sentence filter: which sentences of retrieved passages reach the prompt (FILCO)."""
