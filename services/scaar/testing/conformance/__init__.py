"""What every implementation of a port must keep to, one suite a port.

A test class derives from the suite and gives the fixture named after the port; the suite's tests
then run over that implementation, embedded or over gRPC.
"""
