"""Candidates of theta where they tell policies apart, and the theta that spends a budget."""
