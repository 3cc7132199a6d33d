"""Stores of the predictions of an evaluation: a folder of files, and a database."""
