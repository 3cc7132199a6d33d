"""The retriever on local files: BM25 by bm25s, and vectors."""
