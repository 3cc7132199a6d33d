"""What the services tell of themselves at their edge: metrics, log and traces.

The core knows nothing of it: calls are watched by interceptors, answers by their events.
"""
