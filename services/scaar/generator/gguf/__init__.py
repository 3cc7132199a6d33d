"""Models in GGUF files: what their headers say, without loading them."""
