"""Question answering that retrieves when the model is unsure of a word that matters."""

__version__ = "0.1.0"
