"""The closed world: facts, questions and passages made from a seed, and the models trained on them."""
