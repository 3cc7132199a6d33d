"""The orchestrator: the adaptive loop as a service."""
