"""A running ``scaar up`` for the tests of langchain-scaar."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the target of a running orchestrator of the lab."""
    base = random.randrange(20_000, 32_000)
    command = [sys.executable, "-m", "scaar.cli", "up", "--base-port", str(base)]
    command += ["--gateway-port", str(base + 20)]
    home = tmp_path_factory.mktemp("scaar")
    environment = {**os.environ, "SCAAR_HOME": str(home), "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if line.startswith("OpenAI clients: "):
                    break
            else:
                raise AssertionError("scaar up ended before it was ready")
            yield f"dns:///127.0.0.1:{base}"
        finally:
            process.terminate()
            process.communicate()
