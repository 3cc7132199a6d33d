"""Evaluations joined: several models, data sets, worlds or values of a number in one report."""
