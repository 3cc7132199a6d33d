"""The check of the project's language: plain technical English in everything that is read."""
