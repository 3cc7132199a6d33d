"""Servers of other projects' interfaces over the lab's own engine."""
