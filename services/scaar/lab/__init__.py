"""The closed world: facts, questions and passages from a seed, and the models trained on them."""
