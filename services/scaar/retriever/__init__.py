"""The retriever, which finds passages for queries in named indexes."""
