"""What the services tell of themselves at their edge: metrics. The core knows nothing of it."""
