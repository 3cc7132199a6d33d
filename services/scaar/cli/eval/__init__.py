"""Commands that evaluate on this machine."""
