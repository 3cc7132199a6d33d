"""Models as GGUF files: a catalogue, and those that are on this machine."""
