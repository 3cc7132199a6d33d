"""The record of the papers: the tables of SCAAR, DRAGIN and GECE in the lab."""
