"""Conformance suite of answerers."""

from contextlib import aclosing
from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.ports import Answerer
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    AnswerStarted,
    BudgetLimits,
    PolicyOverrides,
    PolicyRequest,
    SentenceAccepted,
    TokenDrafted,
)


class AnswererConformance:
    """Derive from this class; provide the fixture ``answerer`` and a question that it answers."""

    question = "Where was Ada born?"

    @pytest.fixture
    def answerer(self) -> Answerer:
        """The answerer under test."""
        raise NotImplementedError

    async def test_an_answer_starts_and_finishes_with_the_same_provenance(
        self, answerer: Answerer
    ) -> None:
        events = await _events(answerer, AnswerRequest(self.question, request_id="r-1"))
        started, finished = events[0], events[-1]
        assert isinstance(started, AnswerStarted)
        assert isinstance(finished, AnswerFinished)
        assert started.provenance == finished.answer.provenance
        assert started.provenance.request_id == "r-1"
        assert sum(isinstance(event, AnswerStarted | AnswerFinished) for event in events) == 2

    async def test_the_accepted_sentences_are_the_answer(self, answerer: Answerer) -> None:
        events = await _events(answerer, AnswerRequest(self.question))
        accepted = [event for event in events if isinstance(event, SentenceAccepted)]
        finished = events[-1]
        assert isinstance(finished, AnswerFinished)
        assert finished.answer.sentences == tuple(event.accepted for event in accepted)
        for event in accepted:
            assert finished.answer.text[event.start : event.end] == event.accepted.text

    async def test_the_provenance_alone_is_one_event(self, answerer: Answerer) -> None:
        request = AnswerRequest(self.question, request_id="r-1", provenance_only=True)
        (started,) = await _events(answerer, request)
        whole = await _events(answerer, AnswerRequest(self.question, request_id="r-1"))
        assert started == whole[0]

    async def test_decisions_without_drafted_tokens_are_those_of_the_whole_answer(
        self, answerer: Answerer
    ) -> None:
        request = AnswerRequest(self.question, request_id="r-1")
        # The last event has times.
        *whole, _ = await _events(answerer, request)
        *found, _ = await _events(answerer, replace(request, omit_drafted_tokens=True))
        decided, expected = (
            [event for event in events if not isinstance(event, TokenDrafted)]
            for events in (found, whole)
        )
        assert decided == expected

    async def test_closing_early_leaves_the_answerer_usable(self, answerer: Answerer) -> None:
        async with aclosing(answerer.stream_answer(AnswerRequest(self.question))) as events:
            await anext(events)
        events_again = await _events(answerer, AnswerRequest(self.question))
        assert isinstance(events_again[-1], AnswerFinished)

    @pytest.mark.parametrize(
        ("request_", "field"),
        [
            (AnswerRequest(" "), "question"),
            (AnswerRequest("word " * 30_000), "question"),
            (AnswerRequest("a\x00b"), "question"),
            (AnswerRequest("a\ud800b"), "question"),
            (AnswerRequest("Where?", index="A"), "index"),
            (AnswerRequest("Where?", policy=PolicyRequest("maybe")), "policy.name"),
            (
                AnswerRequest("Where?", policy=PolicyRequest("scaar", PolicyOverrides(theta=1.5))),
                "policy.theta",
            ),
            (
                AnswerRequest("Where?", policy=PolicyRequest("scaar", PolicyOverrides(top_k=101))),
                "policy.top_k",
            ),
            (
                AnswerRequest(
                    "Where?", policy=PolicyRequest("scaar", PolicyOverrides(top_k=10**12))
                ),
                "policy.top_k",
            ),
            (
                AnswerRequest(
                    "Where?", policy=PolicyRequest("scaar", PolicyOverrides(alpha=float("nan")))
                ),
                "policy.alpha",
            ),
            (AnswerRequest("Where?", budget=BudgetLimits(max_tokens=0)), "budget.max_tokens"),
            (AnswerRequest("Where?", budget=BudgetLimits(timeout_s=-1)), "budget.timeout_s"),
        ],
    )
    async def test_a_wrong_request_is_refused_by_field(
        self, answerer: Answerer, request_: AnswerRequest, field: str
    ) -> None:
        with pytest.raises(InvalidRequest) as caught:
            await _events(answerer, request_)
        assert [each.field for each in caught.value.violations] == [field]


async def _events(answerer: Answerer, request: AnswerRequest) -> list[AnswerEvent]:
    async with aclosing(answerer.stream_answer(request)) as events:
        return [event async for event in events]
