"""The record of the long tail: what GECE finds of it, and what a gate before retrieval is worth."""
