"""Evaluations as a service: asked for, executed in shards, watched, and told of.

The rows of the database are the truth; who executes a shard may be lost at any time.
"""
