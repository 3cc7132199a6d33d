"""A killed evaluator: workers continue what it queued, and it resumes after its restart."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from scaar.compose import open_evaluator
from scaar.core.ports import Evaluator

from ..servers.scaar_process import ENVIRONMENT
from .processes import Service
from .scene import Outcome, Scene


@pytest.fixture
def executor() -> str:
    """Who asks."""
    return "in_process"


@pytest.fixture
def service(tmp_path: Path, settings: dict[str, object], executor: str) -> Iterator[Service]:
    """The evaluator as a process of its own."""
    settings["executor"] = executor
    running = Service(tmp_path, settings)
    try:
        running.start()
        yield running
    finally:
        running.process.kill()


@pytest.fixture
async def evaluator(service: Service) -> AsyncIterator[Evaluator]:
    """That process, asked over gRPC."""
    async with open_evaluator(service.target) as remote:
        yield remote


@pytest.mark.parametrize("executor", ["in_process", "celery"])
async def test_evaluation_continues_after_a_restart_during_a_question(
    scene: Scene, service: Service, undisturbed: Outcome, executor: str
) -> None:
    if executor == "celery":
        await scene.start_worker()
    evaluation = await scene.begin_held()
    service.process.kill()
    scene.orchestrator.let_go()
    await asyncio.to_thread(service.start)
    assert await scene.succeeded(evaluation) == undisturbed


async def test_watching_on_the_command_line_lasts_until_the_end(
    scene: Scene, service: Service
) -> None:
    evaluation = await scene.begin_held()
    watching = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "scaar.cli", "eval", "watch", evaluation.id),
        *("--target", service.target),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **ENVIRONMENT},
    )
    assert watching.stderr is not None
    assert await watching.stderr.readline() == b"running: 0 of 24\n"
    service.process.kill()
    assert b"does not answer" in await watching.stderr.readline()
    scene.orchestrator.let_go()
    await asyncio.to_thread(service.start)
    out, err = await watching.communicate()
    assert (watching.returncode, out.splitlines()[2][:16]) == (0, b"| no_retrieval |")
    assert f"{evaluation.id} succeeded: 24 of 24" in err.decode()
