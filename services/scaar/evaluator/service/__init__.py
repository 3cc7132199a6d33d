"""Evaluations as a service: created, executed in shards, watched and reported.

The database has the state of every evaluation; a process that executes a shard may be lost at any
time.
"""
