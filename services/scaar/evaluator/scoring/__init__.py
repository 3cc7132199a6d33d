"""Scores of predictions, summaries of settings, and comparisons; without calls of a model."""
