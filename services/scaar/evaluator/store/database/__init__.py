"""Evaluations kept in a database: PostgreSQL, or a file of SQLite."""
