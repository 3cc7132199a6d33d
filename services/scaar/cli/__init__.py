"""The command line."""

import os

# gRPC reads this when it is first imported: its own log lines would stand among the answers, and
# what fails is told by its caller.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
