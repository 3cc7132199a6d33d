"""For tests: fakes of the ports, what each port must keep to, and ports over real sockets."""
