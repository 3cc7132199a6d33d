"""Counts of entities in a corpus: a file of word positions, its writer, and lookups in it.

The file is written by ``scaar corpus count``. It uses the standard library only, so that an
orchestrator can read it without further packages.
"""
