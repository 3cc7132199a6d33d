"""The five services on the servers of production: OpenSearch, Triton, and the lab's TGI.

All of them are real processes on loopback. TGI itself needs a GPU image: the lab's server, which
keeps to its interface, stands in for it.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.testing.commands import run_scaar
from scaar.testing.processes import RunningService, running_service

from ..servers.opensearch.distribution import make
from ..servers.opensearch.node import CACHE, running_node
from ..servers.triton.running_triton import running_triton
from ..servers.triton.triton_server import set_up

CROSS_ENCODER = model_folder(LAB_CROSS_ENCODER)
SERVICES = ("generator", "scorer", "query-builder", "retriever")
_SERVING = re.compile(r"TGI serving at (http://\S+)")


@dataclass(frozen=True)
class Platform:
    """The running services by name."""

    services: dict[str, RunningService]

    @property
    def target(self) -> str:
        return self.services["orchestrator"].target


@contextmanager
def running_tgi() -> Iterator[str]:
    """``scaar lab tgi`` on a free port; its URL."""
    command = [sys.executable, "-m", "scaar.cli", "lab", "tgi", "--address", "127.0.0.1:0"]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables) as process:
        try:
            assert process.stderr is not None
            until = time.monotonic() + 60
            while time.monotonic() < until:
                if found := _SERVING.match(process.stderr.readline()):
                    break
            assert found
            yield found[1]
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def back_ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The servers, and the settings by which the services find them."""
    folder = tmp_path_factory.mktemp("back-ends")
    make(CACHE / "plain")
    repository = folder / "repository"
    export = ("models", "export-scorer", str(CROSS_ENCODER), "--to", str(repository))
    assert run_scaar(*export, "--backend", "python").status == 0
    with (
        running_node(home=CACHE / "plain") as node,
        running_triton(set_up(), repository) as triton,
        running_tgi() as url,
    ):
        yield {
            "SCAAR_GENERATOR_ENGINE": "tgi",
            "SCAAR_GENERATOR_URL": url,
            "SCAAR_GENERATOR_PROMPT_PROFILE": "lab",
            "SCAAR_SCORER_ENGINE": "triton",
            "SCAAR_SCORER_MODEL": str(CROSS_ENCODER),
            "SCAAR_SCORER_TRITON_TARGET": triton.target,
            "SCAAR_RETRIEVER_ENGINE": "opensearch",
            "SCAAR_RETRIEVER_OPENSEARCH_URLS": f'["http://{node.address}"]',
            "SCAAR_RETRIEVER_OPENSEARCH_REPLICAS": "0",
        }


@pytest.fixture(scope="session")
def platform(
    back_ends: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    """The five services over the servers, the lab's passages in OpenSearch."""
    home = tmp_path_factory.mktemp("platform") / "home"
    corpus = home.parent / "passages.jsonl"
    corpus.write_text(run_scaar("lab", "passages", "--seed", "2000").out)
    with pytest.MonkeyPatch.context() as variables:
        for name, value in {**back_ends, "SCAAR_HOME": str(home)}.items():
            variables.setenv(name, value)
        built = run_scaar("index", "build", "--corpus", str(corpus), "--index", "lab")
    assert built.status == 0, built.err
    with running_services(home, back_ends) as services:
        yield Platform(services)


@contextmanager
def running_services(home: Path, back_ends: dict[str, str]) -> Iterator[dict[str, RunningService]]:
    """The four services over their servers, and an orchestrator over the four."""
    running: dict[str, RunningService] = {}
    targets: dict[str, str] = {}
    with ExitStack() as stack:
        for name in (*SERVICES, "orchestrator"):
            settings = targets if name == "orchestrator" else back_ends
            running[name] = stack.enter_context(running_service(name, home, **settings))
            setting = f"SCAAR_ORCHESTRATOR_{name.upper().replace('-', '_')}_TARGET"
            targets[setting] = running[name].target
        yield running
