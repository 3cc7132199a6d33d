"""vLLM killed while it answers, and started again on its port."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scaar.compose import open_answerer
from scaar.core.calls.breaker import BreakerLimits
from scaar.core.calls.breakers import Breakers
from scaar.core.errors import BackendUnavailable, StreamIncomplete
from scaar.core.observers import BreakerObserver, BreakerState, Dependency
from scaar.core.ports import Answerer
from scaar.core.types import AnswerFinished, AnswerRequest, PolicyRequest, TokenDrafted
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.commands import run_scaar

from ..servers.vllm.vllm_server import VllmServer

POLICY = PolicyRequest("scaar")
CONCURRENT = 8
LIMITS = BreakerLimits()


@dataclass
class Watched(BreakerObserver):
    """The states of the breaker, in order."""

    states: list[BreakerState] = field(default_factory=list)

    def on_breaker_state(self, dependency: Dependency, state: BreakerState) -> None:
        self.states.append(state)

    def on_call_refused(self, dependency: Dependency) -> None:
        pass


async def answered(answerer: Answerer, question: str, *, writing: asyncio.Event) -> str:
    """Return the text of an answer; ``writing`` is set with its first token."""
    async with aclosing(answerer.stream_answer(AnswerRequest(question, POLICY))) as events:
        async for event in events:
            if isinstance(event, TokenDrafted):
                writing.set()
            if isinstance(event, AnswerFinished):
                return event.answer.text
    raise AssertionError("a stream ends with its answer or an error")


async def texts(answerer: Answerer, questions: Sequence[str]) -> list[str]:
    return [await answered(answerer, each, writing=asyncio.Event()) for each in questions]


async def failure(answerer: Answerer, question: str) -> BackendUnavailable:
    """Return the error of an answer while the server is away."""
    with pytest.raises(BackendUnavailable) as caught:
        await answered(answerer, question, writing=asyncio.Event())
    return caught.value


@pytest.fixture
def questions(lab_home: Path, vllm: VllmServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Questions of the lab, in an environment whose generator is the server."""
    known = json.loads((model_folder(LAB_LM) / "scaar.json").read_text())
    settings = {
        "engine": "openai",
        "url": vllm.url,
        "prompt_profile": "lab",
        "read_timeout_s": "300",
        "recommended": json.dumps(known["recommended"]),
    }
    monkeypatch.setenv("SCAAR_HOME", str(lab_home))
    for name, value in settings.items():
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
    drawn = run_scaar("lab", "questions", "--seed", "2000", "--count", str(CONCURRENT)).records
    return [each["question"] for each in drawn]


async def test_answers_fail_clearly_while_the_server_is_away_and_are_the_same_afterwards(
    vllm: VllmServer, questions: list[str]
) -> None:
    watched = Watched()
    async with open_answerer(breakers=Breakers(LIMITS, observer=watched)) as answerer:
        expected = await texts(answerer, questions)
        writing = [asyncio.Event() for _ in questions]
        under_way = [
            asyncio.create_task(answered(answerer, question, writing=event))
            for question, event in zip(questions, writing, strict=True)
        ]
        await asyncio.gather(*(event.wait() for event in writing[:2]))
        await asyncio.to_thread(vllm.process.kill_with_children)
        try:
            ended = await asyncio.gather(*under_way, return_exceptions=True)
            failed = [each for each in ended if isinstance(each, BaseException)]
            assert failed
            for error in failed:
                assert isinstance(error, BackendUnavailable | StreamIncomplete), error
                assert vllm.url in str(error) or "openai is not called" in str(error)
            kept = [(one, other) for one, other in zip(ended, expected, strict=True)]
            assert all(one == other for one, other in kept if not isinstance(one, BaseException))
            while BreakerState.OPEN not in watched.states:
                await failure(answerer, questions[0])
            # A trial may be admitted first.
            errors = [await failure(answerer, questions[0]) for _ in range(3)]
            assert any(each.retry_after_s is not None for each in errors)
        finally:
            await asyncio.to_thread(vllm.start)
        await closed(answerer, questions[0])
        assert watched.states[-1] is BreakerState.CLOSED
        assert await texts(answerer, questions) == expected


async def closed(answerer: Answerer, question: str) -> None:
    """Return once the breaker has admitted a call again: at most the longest open interval."""
    async with asyncio.timeout(300):
        while True:
            try:
                await answered(answerer, question, writing=asyncio.Event())
                return
            except BackendUnavailable as error:
                await asyncio.sleep(error.retry_after_s or 0.1)
