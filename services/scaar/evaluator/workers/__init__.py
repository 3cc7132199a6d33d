"""Shards executed by Celery workers, on this machine or on others.

A message contains the key of a shard and nothing more. Leases and results are in the database, so a
lost message is sent again, and a duplicate does nothing.
"""
