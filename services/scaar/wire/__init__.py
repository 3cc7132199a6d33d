"""The ports over gRPC. Only this package imports the generated contract.

One module a port, each with a servicer that serves any implementation of the port and a
``Remote<Port>`` that is the port over a channel; ``messages`` holds the conversions, ``status``
the one table between conditions and status codes.
"""
