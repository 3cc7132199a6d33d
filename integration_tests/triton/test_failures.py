"""Calls when the real Triton server, its queue or its model fails."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

from scaar.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    Overloaded,
    ScaarError,
)
from scaar.core.loop.budget import deadline_in
from scaar.core.ports import ContributionScorer
from scaar.core.types import ScoreRequest
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings
from scaar.testing.ports import free_port
from scaar.testing.sockets import TRANSPORTS, scorer_by

from ..servers.triton.gated_model import Gate, held_back, put_gate, score
from ..servers.triton.running_triton import PATIENCE_S, RunningTriton, running_triton
from ..servers.triton.triton_counts import counts_of, counts_since, queued
from ..servers.triton.triton_server import TritonServer

SettingsFor = Callable[..., ScorerSettings]


def code_of(error: ScaarError) -> grpc.StatusCode:
    """Return the status of a call over gRPC."""
    assert isinstance(error.__cause__, grpc.aio.AioRpcError)
    return error.__cause__.code()


async def answered(scorer: ContributionScorer, sentence: ScoreRequest) -> tuple[float, ...]:
    """Return the contributions, as soon as the server responds again."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(BackendUnavailable):
                return await score(scorer, sentence)
            await asyncio.sleep(0.05)


async def test_a_server_killed_during_a_call_is_unavailable_and_found_again(
    server: TritonServer, gate: Gate, settings_for: SettingsFor, sentences: list[ScoreRequest]
) -> None:
    port = free_port()
    with running_triton(server, gate.repository, port=port) as running:
        async with (
            open_scorer(settings_for(running)) as engine,
            scorer_by("grpc", engine) as scorer,
        ):
            (before,) = await scorer.score_contributions(sentences[:1])
            gate.close()
            call = asyncio.create_task(scorer.score_contributions(sentences[1:2]))
            await gate.wait_for_requests()
            running.kill()
            with pytest.raises(BackendUnavailable) as gone:
                await call
            assert code_of(gone.value) is grpc.StatusCode.UNAVAILABLE
            with pytest.raises(BackendUnavailable):
                await scorer.score_contributions(sentences[1:2])
            gate.open()
            with running_triton(server, gate.repository, port=port):
                assert await answered(scorer, sentences[0]) == pytest.approx(before, abs=1e-6)
                assert (await scorer.describe_model()).engine == "triton"


async def test_a_scorer_opens_before_its_server_is_reachable(
    server: TritonServer, exported: Path, settings_for: SettingsFor, sentences: list[ScoreRequest]
) -> None:
    port = free_port()
    settings = settings_for_port(settings_for, port)
    async with open_scorer(settings) as scorer:
        with pytest.raises(BackendUnavailable):
            await scorer.describe_model()
        with running_triton(server, exported, port=port):
            assert len(await answered(scorer, sentences[0])) == 9


def settings_for_port(settings_for: SettingsFor, port: int) -> ScorerSettings:
    absent = RunningTriton(port, 0, process=None, said=Path())  # type: ignore[arg-type]
    return settings_for(absent)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_full_queue_is_overload_and_waiting_requests_are_answered(
    server: TritonServer,
    copied: Callable[..., Path],
    settings_for: SettingsFor,
    sentences: list[ScoreRequest],
    transport: str,
) -> None:
    gate = put_gate(copied("max_queue_size: 256", "max_queue_size: 2"))
    with running_triton(server, gate.repository) as running:
        async with (
            open_scorer(settings_for(running)) as engine,
            scorer_by(transport, engine) as scorer,
        ):
            calls = await held_back(gate, scorer, sentences[:2])
            calls += [asyncio.create_task(score(scorer, each)) for each in sentences[2:4]]
            await queued(running, 2)
            with pytest.raises(Overloaded, match="is full") as refused:
                await score(scorer, sentences[4])
            gate.open()
            assert [len(row) for row in await asyncio.gather(*calls)] == [9] * 4
            assert len(await score(scorer, sentences[4])) == 9
    if transport == "grpc":
        assert code_of(refused.value) is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_timeout_in_the_queue_is_overload(
    server: TritonServer,
    copied: Callable[..., Path],
    settings_for: SettingsFor,
    sentences: list[ScoreRequest],
) -> None:
    gate = put_gate(copied("timeout_microseconds: 5000000", "timeout_microseconds: 1000000"))
    with running_triton(server, gate.repository) as running:
        async with open_scorer(settings_for(running)) as scorer:
            calls = await held_back(gate, scorer, sentences[:2])
            late = asyncio.create_task(score(scorer, sentences[2]))
            await queued(running, 1)
            await asyncio.sleep(1.2)
            gate.open()
            with pytest.raises(Overloaded):
                await late
            assert [len(row) for row in await asyncio.gather(*calls)] == [9] * 2


async def test_a_call_ends_at_its_callers_deadline(
    server: TritonServer, gate: Gate, settings_for: SettingsFor, sentences: list[ScoreRequest]
) -> None:
    with running_triton(server, gate.repository) as running:
        async with open_scorer(settings_for(running)) as scorer:
            gate.close()
            with pytest.raises(DeadlineExceeded):
                await hurried(scorer, sentences[0], 0.3)
            with pytest.raises(DeadlineExceeded, match="no time remains"):
                await hurried(scorer, sentences[0], 0.0)
            gate.open()
            assert len((await scorer.score_contributions(sentences[:1]))[0]) == 9
        async with open_scorer(settings_for(running, triton_timeout_s=0.3)) as scorer:
            gate.close()
            with pytest.raises(DeadlineExceeded, match="did not respond in time"):
                await scorer.score_contributions(sentences[:1])
            gate.open()


async def hurried(scorer: ContributionScorer, sentence: ScoreRequest, seconds: float) -> None:
    with deadline_in(seconds):
        await scorer.score_contributions([sentence])


async def test_queued_work_of_a_cancelled_call_is_not_computed(
    server: TritonServer, gate: Gate, settings_for: SettingsFor, sentences: list[ScoreRequest]
) -> None:
    with running_triton(server, gate.repository) as running:
        async with (
            open_scorer(settings_for(running)) as scorer,
            open_scorer(settings_for(running, max_batch_pairs=2)) as other,
        ):
            warm = await counts_of(running)
            stay = await held_back(gate, scorer, sentences[:2])
            # Nine pairs are five requests here, and four are a call's turn.
            leave = asyncio.create_task(score(other, sentences[2]))
            await queued(running, 4)
            leave.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leave
            # The server hears of it a moment later.
            await asyncio.sleep(0.5)
            gate.open()
            assert [len(row) for row in await asyncio.gather(*stay)] == [9] * 2
            assert other.queued_pairs == 0  # type: ignore[attr-defined]
            (after,) = await scorer.score_contributions(sentences[:1])
        counted = await counts_since(warm, running, requests=3)
    assert len(after) == 9
    assert counted.pairs == 3 * 9
