"""llama.cpp's own HTTP server, in a process that ends with the one that started it.

``python -m scaar.generator.engines.llama_cpp_server.server`` reads its parameters, a line of JSON,
from standard input, and writes the address of the server, a line of JSON, to standard output once
the model is loaded. Everything else that it or llama.cpp prints goes to standard error.
"""

import fcntl
import json
import os
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path

import xllamacpp

from scaar.generator.engines.llama_cpp_server.parameters import ServerParameters

_ERRORS_AND_WARNINGS = 2
_KILLED_FIRST = "800"


def main() -> None:
    """Serve a model on loopback until standard input closes."""
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    parameters = ServerParameters(**json.loads(sys.stdin.readline()))
    _end_with_standard_input()
    with suppress(OSError):
        # Where memory runs out, the system should end this process and not the one that asks.
        Path("/proc/self/oom_score_adj").write_text(_KILLED_FIRST)
    try:
        server = xllamacpp.Server(_common_parameters(parameters))
    except RuntimeError:
        # llama.cpp has printed why.
        sys.exit(1)
    print(json.dumps({"address": server.listening_address}), file=reports, flush=True)
    while True:
        signal.pause()


def _end_with_standard_input() -> None:
    """Let the system end this process, by SIGIO, when the other end of standard input closes.

    A thread could not see it while a model is loaded, which holds the interpreter.
    """
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([0], [], [], 0)[0]:
        sys.exit(1)


def _common_parameters(given: ServerParameters) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = given.path
    params.model_alias = {given.name}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [given.key]
    params.n_parallel, params.n_ctx = given.slots, given.slots * given.context
    params.n_batch = params.n_ubatch = given.batch
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    params.n_threads_http = given.connections
    # An answer must not depend on the prompts of earlier ones.
    params.cache_ram_mib, params.cache_idle_slots, params.n_ctx_checkpoints = 0, False, 0
    params.endpoint_slots = params.endpoint_metrics = params.endpoint_props = False
    params.ui, params.offline = False, True
    params.verbosity = _ERRORS_AND_WARNINGS
    return params


if __name__ == "__main__":
    main()
