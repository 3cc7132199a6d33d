"""The lab: a closed world of facts, questions and passages from a seed, and models of it."""
