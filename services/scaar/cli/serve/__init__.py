"""Commands that run and check services: serve, up, doctor, db."""
