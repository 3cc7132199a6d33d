"""Execution of shards: questions answered by an answerer, predictions stored."""
