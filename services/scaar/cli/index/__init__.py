"""Commands that build, check and search indexes."""
