"""The record of methods: every policy and gate at matched budgets and matched times."""
