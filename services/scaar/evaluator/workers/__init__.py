"""Shards asked by workers of Celery: processes of their own, on this machine or on others.

A message says which shard there is to ask, and nothing more. What is done and who does it is in the
database, so that a message that is lost is sent again, and one that comes twice does nothing.
"""
