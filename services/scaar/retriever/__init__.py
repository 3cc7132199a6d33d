"""The retriever: passages for queries from named indexes."""
