"""The command line."""

import os

# gRPC reads this when it is first imported. Its log lines would mix with the output, and failures
# are reported by the caller.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
