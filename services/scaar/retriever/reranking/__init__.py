"""Reranking: the best passages of a search in the order of a cross-encoder."""
