"""Fixtures of a real Triton server with the lab's cross-encoder, exported with the command."""

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scaar.core.types import ScoreRequest
from scaar.lab.models import LAB_CROSS_ENCODER, model_folder
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.triton_repository.model_config import MODEL_NAME
from scaar.testing.commands import run_scaar

from ..servers.triton.gated_model import Gate, put_gate
from ..servers.triton.running_triton import RunningTriton, running_triton
from ..servers.triton.triton_server import TritonServer, set_up

FOLDER = model_folder(LAB_CROSS_ENCODER)
NAMES = "Ada Bea Cay Dee Eve Fay Gil Hal Ivo Jan Kay Lea Mia Ned Oda Pia".split()


@pytest.fixture(scope="session")
def server() -> TritonServer:
    return set_up()


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab's cross-encoder for the Python back end. Do not change it."""
    repository = tmp_path_factory.mktemp("triton") / "repository"
    ran = run_scaar(
        *("models", "export-scorer", str(FOLDER), "--to", str(repository), "--backend", "python")
    )
    assert ran.status == 0, ran.err
    return repository


@pytest.fixture(scope="session")
def triton(server: TritonServer, exported: Path) -> Iterator[RunningTriton]:
    """A server for tests that do not change it."""
    with running_triton(server, exported) as running:
        yield running


@pytest.fixture
def copied(exported: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that creates a repository with a replaced text in its configuration."""
    numbers = itertools.count()

    def copy(old: str = "", new: str = "") -> Path:
        repository = shutil.copytree(exported, tmp_path / f"repository-{next(numbers)}")
        config = repository / MODEL_NAME / "config.pbtxt"
        assert old in config.read_text()
        if old:
            config.write_text(config.read_text().replace(old, new))
        return repository

    return copy


@pytest.fixture
def gate(copied: Callable[..., Path]) -> Gate:
    """A repository whose model waits for the test."""
    return put_gate(copied())


@pytest.fixture
def settings_for() -> Callable[..., ScorerSettings]:
    """Return settings of a scorer on a server, without a cache by default."""

    def make(running: RunningTriton, **given: Any) -> ScorerSettings:
        fixed = {"engine": "triton", "model": FOLDER, "triton_target": running.target}
        return ScorerSettings(**{**fixed, "cache_entries": 0, **given})

    return make


@pytest.fixture
def sentences() -> list[ScoreRequest]:
    """Return sixteen sentences of nine words, each in its own request."""
    question = "Who directed the film The Haunted Fountain?"
    words = "The film was directed by {} in the past."
    return [ScoreRequest(question, tuple(words.format(name).split())) for name in NAMES]
