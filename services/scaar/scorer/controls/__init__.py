"""Control baselines for the scorer's contributions, one module each."""
