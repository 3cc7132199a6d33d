"""Databases with the tables of a service: PostgreSQL, or a file of SQLite."""
