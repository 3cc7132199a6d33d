"""Records of answers: the store, the writer of an orchestrator, and the service that reads."""
