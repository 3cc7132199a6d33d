"""Incompatible models on the real Triton server are refused, naming the requirements."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScoreRequest
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.scorer.triton_repository.model_config import MODEL_NAME
from scaar.testing.ports import free_port
from scaar.testing.sockets import scorer_by

from ..servers.triton.running_triton import PATIENCE_S, RunningTriton, running_triton
from ..servers.triton.triton_server import TritonServer

SettingsFor = Callable[..., ScorerSettings]

WRONG = {
    "input": ('name: "token_type_ids"', 'name: "segment_ids"', "token_type_ids, not segment_ids"),
    "missing": ('name: "attention_mask"', 'name: "token_ids"', "attention_mask must be INT64"),
    "kind": ("TYPE_INT64", "TYPE_INT32", "input_ids must be INT64 [-1, -1], not INT32 [-1, -1]"),
    "width": ("dims: [ -1 ]", "dims: [ 64 ]", "must be INT64 [-1, -1], not INT64 [-1, 64]"),
    "output": ('name: "logits"', 'name: "scores"', "logits must be FP32 [-1, 1], and the outputs"),
    "labels": ("dims: [ 1 ]", "dims: [ 2 ]", "logits must be FP32 [-1, 1], not FP32 [-1, 2]"),
    "tokenizer": (
        '_sha256" value { string_value: "',
        '_sha256" value { string_value: "f',
        "SHA-256",
    ),
}
"""Replacements in the configuration, and the text that the error must contain."""

_IDLE = """
class TritonPythonModel:
    def execute(self, requests):
        return []
"""


def add_wrong(repository: Path, exported: Path, name: str, model: str) -> None:
    """Add an incompatible variant of the model, which computes nothing."""
    old, new, _ = WRONG[name]
    config = (exported / MODEL_NAME / "config.pbtxt").read_text()
    config = re.sub(r"model_warmup \{.*?\n\}\n", "", config, flags=re.DOTALL)
    assert old in config
    config = config.replace(f'name: "{MODEL_NAME}"', f'name: "{model}"').replace(old, new)
    (repository / model / "1").mkdir(parents=True)
    (repository / model / "config.pbtxt").write_text(config.replace("count: 2", "count: 1"))
    (repository / model / "1" / "model.py").write_text(_IDLE)


@pytest.fixture(scope="module")
def wrong(
    server: TritonServer, exported: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningTriton]:
    """A server with every incompatible model."""
    repository = tmp_path_factory.mktemp("wrong")
    for name in WRONG:
        add_wrong(repository, exported, name, f"wrong_{name}")
    with running_triton(server, repository) as running:
        yield running


@pytest.mark.parametrize("name", WRONG)
async def test_an_incompatible_model_is_rejected_at_the_start(
    wrong: RunningTriton, settings_for: SettingsFor, name: str
) -> None:
    with pytest.raises(CapabilityMissing) as refused:
        async with open_scorer(settings_for(wrong, triton_model=f"wrong_{name}")):
            raise AssertionError("a model that does not fit was taken")
    assert WRONG[name][2] in refused.value.message
    assert f"wrong_{name}" in refused.value.message


async def test_an_unknown_model_is_refused_at_the_start(
    wrong: RunningTriton, settings_for: SettingsFor
) -> None:
    with pytest.raises(CapabilityMissing, match="has no model 'no_such'"):
        async with open_scorer(settings_for(wrong, triton_model="no_such")):
            raise AssertionError("a model that is not there was taken")


async def test_a_model_that_becomes_invalid_is_a_failed_precondition(
    server: TritonServer, exported: Path, tmp_path: Path, settings_for: SettingsFor
) -> None:
    sentence, port = ScoreRequest("Who?", ("Ada", "did.")), free_port()
    add_wrong(tmp_path / "other", exported, "labels", MODEL_NAME)
    with running_triton(server, exported, port=port) as running:
        async with (
            open_scorer(settings_for(running)) as engine,
            scorer_by("grpc", engine) as scorer,
        ):
            await scorer.score_contributions([sentence])
            running.kill()
            with pytest.raises(BackendUnavailable):
                await scorer.score_contributions([sentence])
            with running_triton(server, tmp_path / "other", port=port):
                with pytest.raises(CapabilityMissing, match=r"FP32 \[-1, 2\]") as refused:
                    await asked_until_there(scorer, sentence)
                cause = refused.value.__cause__
                assert isinstance(cause, grpc.aio.AioRpcError)
                assert cause.code() is grpc.StatusCode.FAILED_PRECONDITION


async def asked_until_there(scorer: ContributionScorer, sentence: ScoreRequest) -> None:
    """Call until the server responds. Raise the error of its first response, if any."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(BackendUnavailable):
                await scorer.score_contributions([sentence])
            await asyncio.sleep(0.05)
