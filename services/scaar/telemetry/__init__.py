"""Metrics, logs and traces of the services.

The core does not depend on this package: interceptors observe calls, and watches observe the
events of answers.
"""
