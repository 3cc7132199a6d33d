"""llama.cpp's server as a child process: sizes, start, supervision."""
