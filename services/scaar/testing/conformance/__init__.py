"""Conformance suites: requirements of every implementation of a port, one suite for each port.

A test class derives from the suite and provides the fixture named after the port. The tests of the
suite then run over that implementation, embedded or over gRPC.
"""
