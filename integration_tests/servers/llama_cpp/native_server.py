"""llama.cpp's own HTTP server, from the package xllamacpp: ``native_server.py FILE PORT``.

The package contains the code of ``llama-server``, compiled; it takes the same parameters.
"""

import signal
import sys

import xllamacpp


def main() -> None:
    """Serve a GGUF file on loopback until the process is killed."""
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.hostnames = ["127.0.0.1"]
    params.port = int(sys.argv[2])
    params.n_ctx, params.n_parallel = 8192, 4
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.endpoint_metrics = True
    server = xllamacpp.Server(params)
    print(f"listening on {server.listening_address}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
