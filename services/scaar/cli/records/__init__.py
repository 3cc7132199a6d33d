"""``scaar records``: the records of answers, at a running service or in a database."""
