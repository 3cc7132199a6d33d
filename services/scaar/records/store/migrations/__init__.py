"""Migrations of the tables, one for each revision."""
