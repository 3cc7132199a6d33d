"""Chat templates of checkpoints: reading, rendering, and escaping of turn markers."""
