"""What every process needs to run: servers, channels, health, settings, model files."""
