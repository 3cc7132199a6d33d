"""The retriever on OpenSearch."""
