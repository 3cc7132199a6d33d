"""Sentence filters, fitted to questions with known answers (FILCO)."""
