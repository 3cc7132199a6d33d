"""What every engine shares that is the client of a model's server."""
