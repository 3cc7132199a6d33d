"""Tuning of policies: candidates, trajectories of their answers, nested cross-validation."""
