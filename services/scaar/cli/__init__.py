"""The command line."""

import os

# gRPC reads this when it is first imported: its own log lines would stand among the answers.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
