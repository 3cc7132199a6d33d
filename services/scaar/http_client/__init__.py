"""HTTP connections to servers that close idle ones: how long they are kept, and lost requests."""

KEPT_S = 2.0
"""Time, in seconds, for which an idle connection is kept. Servers close theirs after 5 s or more:
llama.cpp, Node and servers on uvicorn by default."""
