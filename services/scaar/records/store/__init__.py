"""The store of records: a database of SQLite or PostgreSQL."""
