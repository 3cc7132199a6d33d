"""The record of documents: folders of real documents, and questions about them."""
