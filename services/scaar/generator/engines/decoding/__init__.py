"""Decoding in this process, step by step: what every white-box engine shares, and two decoders."""
