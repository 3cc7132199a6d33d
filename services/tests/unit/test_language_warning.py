"""The warning of an English scorer on another language."""

import logging
from dataclasses import replace

import pytest

from scaar.compose.language_warning import with_language_warning
from scaar.core.errors import BackendUnavailable
from scaar.core.loop.loop import Ports
from scaar.core.types import Passage, RetrieveRequest, ScorerDescription, ScoreRequest
from scaar.query_builder.factory import open_query_builder
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

GERMAN = "die Vorgesetzten müssen vier Wochen vor dem Beginn davon erfahren " * 4


class EnglishScorer(ScriptedScorer):
    kind = "english"

    async def describe_model(self) -> ScorerDescription:
        return replace(await super().describe_model(), text_kind=self.kind)


async def ports_over(scorer: ScriptedScorer) -> Ports:
    retriever = InMemoryRetriever({"mine": [Passage("a", "", GERMAN)]})
    async with open_query_builder() as query_builder:
        ports = Ports(ScriptedGenerator({}), scorer, query_builder, retriever)
    return with_language_warning(ports)


async def test_the_first_foreign_passages_are_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ports = await ports_over(EnglishScorer(lambda request: [0.1] * len(request.words)))
    search = RetrieveRequest(("Wochen",), 1, "mine")
    await ports.retriever.retrieve(search)
    assert caplog.messages == [], "a policy without contributions is not warned of"
    await ports.scorer.score_contributions([ScoreRequest("How long?", ("Ten", "weeks."))])
    for _ in range(2):
        await ports.retriever.retrieve(search)
    (warning,) = caplog.messages
    assert "is for English, and the passages may not be: 0 of 40 words are" in warning
    assert caplog.records[0].levelno == logging.WARNING


class UnavailableOnce(EnglishScorer):
    described = False

    async def describe_model(self) -> ScorerDescription:
        if self.described:
            return await super().describe_model()
        self.described = True
        raise BackendUnavailable("the scorer is restarting")


async def test_a_scorer_that_is_not_described_fails_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ports = await ports_over(UnavailableOnce(lambda request: (0.1,)))
    request = ScoreRequest("映画の監督は誰ですか、教えて", ("X",))
    for warnings in (0, 1, 1):
        assert await ports.scorer.score_contributions([request]) == ((0.1,),)
        assert len(caplog.messages) == warnings


async def test_a_scorer_of_another_kind_warns_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    ports = await ports_over(ScriptedScorer(lambda request: (0.1,)))
    await ports.scorer.score_contributions([ScoreRequest("映画の監督は誰ですか、教えて", ("X",))])
    assert caplog.messages == []
