"""A server of Hugging Face's text-generation-inference, as a client sees it."""
