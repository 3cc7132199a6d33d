"""The calls of an answer name it, and the answer is released when it ends."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.types import Capability, GenerateRequest
from scaar.testing.fakes import SCRIPTED_MODEL, Piece, ScriptedGenerator

from .scripted import UNSURE_OF_PARIS, Parts, Script, asking, sentences_in

LEASING = replace(
    SCRIPTED_MODEL, capabilities=SCRIPTED_MODEL.capabilities | {Capability.ANSWER_SLOTS}
)


def leasing(script: Script) -> Parts:
    """Ports whose generator leases slots to answers."""
    return Parts(ScriptedGenerator(script, model=LEASING))


def failing(request: GenerateRequest) -> list[Piece]:
    return [(" Ada", -0.01), BackendUnavailable("lost")]  # type: ignore[list-item]


async def test_every_call_of_an_answer_names_it_and_its_end_releases_it() -> None:
    parts = leasing(UNSURE_OF_PARIS)
    sentences = sentences_in(await parts.events(asking()))
    (answer_id,) = {request.answer_id for request in parts.generator.requests}
    assert (len(sentences), len(parts.generator.requests)) == (2, 3)
    assert answer_id
    assert parts.generator.released == [answer_id]


async def test_two_answers_with_one_request_id_have_slots_of_their_own() -> None:
    parts = leasing(UNSURE_OF_PARIS)
    for _ in range(2):
        await parts.events(replace(asking(), request_id="mine"))
    assert len({request.answer_id for request in parts.generator.requests}) == 2
    assert len(set(parts.generator.released)) == 2


async def test_a_cancelled_and_a_failed_answer_are_released() -> None:
    parts = leasing(UNSURE_OF_PARIS)
    async with aclosing(parts.loop().stream_answer(asking())) as events:
        await anext(events)
        await anext(events)
    assert len(parts.generator.released) == 1
    parts = leasing(failing)
    with pytest.raises(BackendUnavailable):
        await parts.events(asking())
    assert len(parts.generator.released) == 1


async def test_a_slot_that_cannot_be_released_fails_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(self: ScriptedGenerator, answer_id: str) -> None:
        raise BackendUnavailable("lost")

    monkeypatch.setattr(ScriptedGenerator, "release_answer", refuse)
    assert len(sentences_in(await leasing(UNSURE_OF_PARIS).events(asking()))) == 2


async def test_an_engine_without_slots_is_called_as_it_is() -> None:
    parts = Parts(ScriptedGenerator(UNSURE_OF_PARIS))
    await parts.events(asking())
    assert {request.answer_id for request in parts.generator.requests} == {""}
    assert parts.generator.released == []
