"""Commands that get models, and export them for Triton and as sentence encoders."""
