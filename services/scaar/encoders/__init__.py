"""Models that turn texts into vectors, for any service that compares texts by their meaning."""
