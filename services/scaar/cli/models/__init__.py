"""Commands that export models: for Triton and as sentence encoders."""
