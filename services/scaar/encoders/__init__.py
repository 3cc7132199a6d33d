"""Encoders, which map texts to vectors, for services that compare texts by meaning."""
