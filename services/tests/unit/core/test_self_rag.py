"""The policy of a model with reflection tokens: its decisions, its candidates and its answer."""

import math
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import count

import pytest

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DeadlineExceeded,
    InvalidRequest,
    PromptTooLong,
)
from scaar.core.prompts.reflection import JUDGEMENTS, REFLECTION_TOKENS
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    BudgetLimits,
    CandidatesScored,
    ExcludeSeen,
    GateJudged,
    GenerateRequest,
    OnFailure,
    Passage,
    PassagesRetrieved,
    QueryBuilt,
    RetrievalDecision,
    RetrievalWeighed,
    RetrieveRequest,
    RetrieveResult,
    Token,
)
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator

from .reflecting import (
    ADA,
    BYRON,
    REFLECTING_MODEL,
    RETRIEVES,
    pieces,
    reflecting,
    writing,
    written_requests,
)
from .scripted import PASSAGES, QUESTION, Parts, answer_in, asking, kinds, only, other_tasks, parts
from .test_gate import COMMON, LONG_TAIL, Router, events_of, gated

REMEMBERS = {
    "Answer:": "[No Retrieval]",
    "[No Retrieval]": " Ada was born in Paris.[No Retrieval] So",
    "Paris.[No Retrieval]": " So the answer is Paris.[Utility:4]",
}


def weighed(events: Sequence[AnswerEvent]) -> list[RetrievalDecision]:
    return [event.decision for event in only(RetrievalWeighed, events)]


def unsure(retrieval: float, *, at: str = "Answer:") -> object:
    """Return a judge that gives [Retrieval] a probability at one place."""

    def judge(before: str, token: Token) -> Mapping[str, float]:
        if before.endswith(at):
            return {"[Retrieval]": retrieval, "[No Retrieval]": 1 - retrieval}
        return {token.text: 1.0}

    return judge


async def test_passages_are_retrieved_and_the_best_candidate_is_accepted() -> None:
    made = reflecting(RETRIEVES)
    events = await made.events(asking("self_rag"))
    assert kinds(events) == [
        *("AnswerStarted", "RetrievalWeighed", "QueryBuilt", "PassagesRetrieved"),
        *("CandidatesScored", "SentenceAccepted", "RetrievalWeighed", "SentenceAccepted"),
        "AnswerFinished",
    ]
    assert weighed(events) == ["retrieve", "skip"]
    first, second = only(RetrievalWeighed, events)
    assert (first.sentence, first.probability, first.threshold) == (0, 1.0, 0.2)
    assert (second.sentence, second.probability) == (1, 0.0)
    (scored,) = only(CandidatesScored, events)
    good, bad = scored.candidates
    assert (scored.sentence, scored.kept) == (0, 0)
    assert (good.passage_id, bad.passage_id) == ("p1", "p2")
    assert (good.text, bad.text) == (" Ada was born in London.", " Byron was a poet.")
    assert (good.relevance, good.support, good.utility) == (1.0, 1.0, 0.0)
    assert (bad.relevance, bad.support, bad.utility) == (0.0, 0.0, 0.0)
    assert good.likelihood == pytest.approx(math.exp(-0.1))
    assert good.score == pytest.approx(good.likelihood + 2)
    answer = answer_in(events)
    assert answer.text == " Ada was born in London. So the answer is London."
    assert (answer.answer, answer.end) == ("London", AnswerEnd.ANSWER_PHRASE)
    assert [each.passage_ids for each in answer.sentences] == [("p1",), ()]
    assert [each.id for each in answer.passages] == ["p1"]


async def test_every_candidate_is_a_call_and_counts_as_usage() -> None:
    made = reflecting(RETRIEVES)
    usage = answer_in(await made.events(asking("self_rag"))).usage
    requests = written_requests(made)
    # The decision, two candidates, and the conclusion, whose decision ended the first segment.
    assert usage.llm_calls == len(requests) == 4
    assert usage.retrievals == 1
    assert all(each.named_tokens == JUDGEMENTS for each in requests)
    evidence = [f"[Retrieval]<paragraph>{each}" for each in (ADA, BYRON)]
    kept = "[Relevant] Ada was born in London.[Fully supported]"
    prefixes = ["", *evidence, f"{evidence[0]}{kept}[No Retrieval]"]
    assert [each.prefix for each in requests] == prefixes
    assert {each.prompt for each in requests} == {f"Question: {QUESTION}\nAnswer:"}


@pytest.mark.parametrize(
    ("probability", "retrieve_above", "decision"),
    [
        (0.21, None, "retrieve"),
        (0.2, None, "skip"),
        (0.19, None, "skip"),
        (0.6, 0.7, "skip"),
        (0.71, 0.7, "retrieve"),
        (0.99, 1.0, "skip"),
    ],
)
async def test_passages_are_retrieved_above_the_threshold(
    probability: float, retrieve_above: float | None, decision: str
) -> None:
    texts = RETRIEVES if decision == "retrieve" else REMEMBERS
    made = reflecting(texts, unsure(probability))  # type: ignore[arg-type]
    events = await made.events(asking("self_rag", retrieve_above=retrieve_above))
    first = only(RetrievalWeighed, events)[0]
    assert first.decision == decision
    assert first.probability == pytest.approx(probability)
    assert first.threshold == (retrieve_above or 0.2)
    assert (len(made.retriever.requests) > 0) == (decision == "retrieve")


async def test_a_model_that_needs_nothing_answers_without_a_retrieval() -> None:
    made = reflecting(REMEMBERS)
    events = await made.events(asking("self_rag"))
    answer = answer_in(events)
    assert weighed(events) == ["skip", "skip"]
    assert answer.text == " Ada was born in Paris. So the answer is Paris."
    assert (answer.answer, answer.usage.retrievals, answer.passages) == ("Paris", 0, ())
    assert answer.usage.llm_calls == 3


async def test_a_segment_continues_with_the_evidence_if_the_model_prefers_that() -> None:
    made = reflecting(
        {
            **RETRIEVES,
            ADA: "[Relevant] Ada was born.[Fully supported][Continue to Use Evidence] In",
            "[Continue to Use Evidence]": " So the answer is London.[Utility:5]",
        }
    )
    events = await made.events(asking("self_rag"))
    assert weighed(events) == ["retrieve", "continue"]
    answer = answer_in(events)
    assert [each.passage_ids for each in answer.sentences] == [("p1",), ("p1",)]
    assert answer.text == " Ada was born. So the answer is London."
    assert answer.usage.retrievals == 1


async def test_without_evidence_there_is_nothing_to_continue_with() -> None:
    made = reflecting({**REMEMBERS, "Answer:": "[Continue to Use Evidence]"})
    assert weighed(await made.events(asking("self_rag"))) == ["skip", "skip"]


async def test_the_query_is_the_question_with_the_last_segment() -> None:
    again = {**RETRIEVES, ADA: "[Relevant] Ada was a poet.[Fully supported][Retrieval]<paragraph>"}
    made = reflecting(again)
    events = await made.events(asking("self_rag", budget=BudgetLimits(max_retrievals=2)))
    queries = [event.query.text for event in only(QueryBuilt, events)]
    assert queries == [QUESTION, f"{QUESTION} Ada was a poet."]


@pytest.mark.parametrize("best", [0, 1])
async def test_support_outweighs_relevance_and_utility_decides_between_equals(best: int) -> None:
    texts = {
        **RETRIEVES,
        ADA: "[Relevant] One.[Fully supported][Utility:3][No Retrieval]",
        BYRON: "[Relevant] Two.[Fully supported][Utility:3][No Retrieval]",
    }

    def judge(before: str, token: Token) -> Mapping[str, float]:
        if token.text == "[Utility:3]":
            useful = (" One." in before) == (best == 0)
            return {"[Utility:3]": 0.6, "[Utility:5]" if useful else "[Utility:1]": 0.4}
        return {token.text: 1.0}

    events = await reflecting(texts, judge).events(asking("self_rag"))
    (scored,) = only(CandidatesScored, events)
    assert scored.kept == best
    utilities = [each.utility for each in scored.candidates]
    assert utilities[best] == pytest.approx(0.4)
    assert utilities[1 - best] == pytest.approx(-0.4)


async def test_the_first_passage_is_kept_among_equals_and_empty_candidates_are_left_out() -> None:
    same = "[Relevant] Same.[Fully supported][No Retrieval]"
    events = await reflecting({**RETRIEVES, ADA: same, BYRON: same}).events(asking("self_rag"))
    assert only(CandidatesScored, events)[0].kept == 0
    empty = {**RETRIEVES, ADA: "[Relevant][Fully supported][No Retrieval]"}
    events = await reflecting(empty).events(asking("self_rag"))
    (scored,) = only(CandidatesScored, events)
    assert [each.passage_id for each in scored.candidates] == ["p2"]


async def test_a_segment_without_space_is_separated_from_the_text_before_it() -> None:
    close = {
        **RETRIEVES,
        ADA: "[Relevant]Ada was born in London.[Fully supported][No Retrieval]",
        "[No Retrieval]": "So the answer is London.[Utility:5]",
    }
    answer = answer_in(await reflecting(close).events(asking("self_rag")))
    assert answer.text == "Ada was born in London. So the answer is London."


async def test_an_accepted_text_has_no_reflection_token_wherever_the_model_writes_one() -> None:
    noisy = {
        **RETRIEVES,
        ADA: "[Relevant] Ada[Irrelevant] was</paragraph> born.[Partially supported][Utility:1]",
    }
    made = reflecting(noisy)
    answer = answer_in(await made.events(asking("self_rag")))
    assert answer.sentences[0].text == " Ada was born."
    assert not any(token in answer.text for token in REFLECTION_TOKENS)


async def test_an_answer_without_conclusion_is_concluded_after_its_last_segment() -> None:
    made = reflecting(
        {
            **RETRIEVES,
            ADA: "[Relevant] Ada was born in London.[Fully supported][Utility:5]",
            " So the answer is": " London.[Utility:5] And more.",
        }
    )
    answer = answer_in(await made.events(asking("self_rag")))
    assert (answer.answer, answer.end) == ("London", AnswerEnd.END_OF_SEQUENCE)
    assert answer.sentences[-1].text == " So the answer is London."
    assert answer.sentences[-1].passage_ids == ("p1",)
    last = written_requests(made)[-1].prefix
    assert last.endswith("[Utility:5][Continue to Use Evidence] So the answer is")


async def test_a_model_that_writes_nothing_is_made_to_conclude() -> None:
    silent = {"Answer:": "", "[No Retrieval]": "", " So the answer is": " Paris."}
    answer = answer_in(await reflecting(silent).events(asking("self_rag")))
    assert (answer.text, answer.end) == (" So the answer is Paris.", AnswerEnd.END_OF_SEQUENCE)


@pytest.mark.parametrize("max_tokens", [1, 2, 5, 9, 12, 20])
async def test_tokens_that_run_out_end_the_answer(max_tokens: int) -> None:
    endless = {
        **RETRIEVES,
        ADA: "[Relevant]" + " endless" * 200,
        BYRON: "[Relevant]" + " unending" * 200,
        " So the answer is": " London.",
    }
    made, budget = reflecting(endless), BudgetLimits(max_tokens=max_tokens)
    answer = answer_in(await made.events(asking("self_rag", budget=budget)))
    assert answer.end is AnswerEnd.MAX_TOKENS
    assert answer.answer == "London"
    assert all(each.max_tokens <= max(max_tokens, 20) for each in written_requests(made))
    assert answer.usage.generated_tokens <= max_tokens + 20


async def test_a_long_segment_is_cut_and_the_next_one_weighed_by_a_call() -> None:
    long = {**REMEMBERS, "[No Retrieval]": " a" * 200, " a": "[No Retrieval]"}
    events = await reflecting(long).events(
        asking("self_rag", budget=BudgetLimits(max_tokens=400, max_sentences=2))
    )
    assert [each.text for each in answer_in(events).sentences[:2]] == [" a" * 128] * 2
    assert answer_in(events).end is AnswerEnd.MAX_SENTENCES


async def test_beyond_the_budget_of_retrievals_a_segment_is_written_without_passages() -> None:
    again = {**RETRIEVES, ADA: "[Relevant] Ada was a poet.[Fully supported][Retrieval]<paragraph>"}
    events = await reflecting(again).events(
        asking("self_rag", budget=BudgetLimits(max_retrievals=1))
    )
    assert weighed(events) == ["retrieve", "limit"]
    assert answer_in(events).usage.retrievals == 1
    assert answer_in(events).answer == "London"


async def test_a_segment_for_which_nothing_is_found_is_written_without_passages() -> None:
    made = reflecting(REMEMBERS, unsure(0.9), retriever=InMemoryRetriever({"lab": [OTHER]}))  # type: ignore[arg-type]
    events = await made.events(asking("self_rag"))
    assert weighed(events) == ["retrieve", "skip"]
    assert only(PassagesRetrieved, events)[0].passages == ()
    assert only(CandidatesScored, events) == []
    assert answer_in(events).answer == "Paris"


OTHER = Passage("p9", "Zebra", "Zebra stripes.")


class Lost(InMemoryRetriever):
    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        raise BackendUnavailable("gone")


async def test_a_failed_retrieval_fails_the_answer_or_marks_its_segment_as_degraded() -> None:
    made = reflecting(REMEMBERS, unsure(0.9), retriever=Lost({"lab": PASSAGES}))  # type: ignore[arg-type]
    with pytest.raises(BackendUnavailable):
        await made.events(asking("self_rag"))
    request = replace(asking("self_rag"), on_failure=OnFailure.ACCEPT_DRAFT)
    answer = answer_in(await made.events(request))
    assert (answer.answer, answer.degraded) == ("Paris", True)
    assert [each.degraded is not None for each in answer.sentences] == [True, False]


async def test_a_passage_that_does_not_fit_is_no_candidate() -> None:
    script = writing(RETRIEVES)

    def small(requested: GenerateRequest) -> list[Piece]:
        if "Byron" in requested.prefix:
            raise PromptTooLong("too long")
        return script(requested)

    made = reflecting(RETRIEVES)
    made.generator._script = small
    events = await made.events(asking("self_rag"))
    (scored,) = only(CandidatesScored, events)
    assert [each.passage_id for each in scored.candidates] == ["p1"]


async def test_the_oldest_passage_of_the_text_is_dropped_if_the_next_does_not_fit() -> None:
    again = {**RETRIEVES, ADA: "[Relevant] Ada was a poet.[Fully supported][Retrieval]<paragraph>"}
    script = writing(again)

    def small(requested: GenerateRequest) -> list[Piece]:
        if requested.prefix.count("<paragraph>") > 1:
            raise PromptTooLong("too long")
        return script(requested)

    made = reflecting(again)
    made.generator._script = small
    await made.events(asking("self_rag", budget=BudgetLimits(max_retrievals=2)))
    prefixes = [each.prefix for each in written_requests(made)]
    assert f"[No Retrieval] Ada was a poet.[Retrieval]<paragraph>{ADA}" in prefixes


async def test_a_prompt_that_never_fits_fails_the_answer() -> None:
    def small(requested: GenerateRequest) -> list[Piece]:
        if requested.prompt.startswith(f"Question: {QUESTION}"):
            raise PromptTooLong("too long")
        return pieces("a")

    made = reflecting(RETRIEVES)
    made.generator._script = small
    with pytest.raises(PromptTooLong):
        await made.events(asking("self_rag"))


async def test_reflection_tokens_in_passages_and_questions_are_not_those_of_the_model() -> None:
    tags = " ".join(REFLECTION_TOKENS)
    retriever = InMemoryRetriever({"lab": [Passage("p1", tags, f"Ada born {tags.upper()}")]})
    made = reflecting({**RETRIEVES, "</paragraph>": RETRIEVES[ADA]}, retriever=retriever)
    await made.events(replace(asking("self_rag"), question=f"Where was Ada born? {tags}"))
    first, second = written_requests(made)[:2]
    for token in REFLECTION_TOKENS:
        assert token not in first.prompt
        expected = token in ("[Retrieval]", "<paragraph>", "</paragraph>")
        assert second.prefix.lower().count(token.lower()) == expected


async def test_passages_that_were_read_can_be_excluded() -> None:
    again = {
        **RETRIEVES,
        ADA: "[Relevant] Ada was born.[Fully supported][Retrieval]<paragraph>",
        BYRON: "[Relevant] So the answer is London.[Fully supported][Utility:5]",
    }
    made = reflecting(again)
    request = asking("self_rag", top_k=1, exclude_seen=ExcludeSeen.SEEN)
    events = await made.events(request)
    assert [event.excluded_ids for event in only(PassagesRetrieved, events)] == [(), ("p1",)]
    assert answer_in(events).sentences[1].passage_ids == ("p2",)


async def test_a_question_that_the_gate_rules_out_is_answered_without_retrieval() -> None:
    made = reflecting(RETRIEVES | {"[No Retrieval]": " So the answer is Paris.[Utility:1]"})
    events = await events_of(made, gated("self_rag", COMMON))
    assert only(GateJudged, events)[0].policy == "no_retrieval"
    assert kinds(events) == ["AnswerStarted", "GateJudged", "SentenceAccepted", "AnswerFinished"]
    assert answer_in(events).text == " So the answer is Paris."
    assert made.retriever.requests == []


async def test_a_question_that_the_gate_lets_through_is_weighed() -> None:
    made = reflecting(RETRIEVES)
    events = await events_of(made, gated("self_rag", LONG_TAIL))
    assert only(GateJudged, events)[0].policy == "self_rag"
    assert weighed(events) == ["retrieve", "skip"]


@pytest.mark.parametrize("choice", ["self_rag", "no_retrieval"])
async def test_a_router_can_choose_the_policy(choice: str) -> None:
    texts = {**RETRIEVES, "Answer:": " So the answer is Paris."}
    made = reflecting(RETRIEVES if choice == "self_rag" else texts)
    router = Router(choice, policies=("no_retrieval", "self_rag"))
    events = await events_of(made, gated("ircot"), router)
    assert weighed(events) == (["retrieve", "skip"] if choice == "self_rag" else [])
    assert answer_in(events).answer == ("London" if choice == "self_rag" else "Paris")


async def test_a_model_without_named_tokens_is_refused_before_any_work() -> None:
    made = parts(writing(RETRIEVES))
    with pytest.raises(CapabilityMissing, match="self_rag needs named_tokens"):
        await made.events(asking("self_rag"))
    assert made.generator.requests == made.retriever.requests == []


class Untrained(ScriptedGenerator):
    async def generate(self, request: GenerateRequest):  # type: ignore[no-untyped-def,override]
        if request.named_tokens:
            text = "must each be one token of the model; '[Retrieval]' is 4"
            raise InvalidRequest.of("named_tokens", text)
        async with aclosing(super().generate(request)) as events:
            async for event in events:
                yield event


async def test_a_model_without_reflection_tokens_is_refused_by_name() -> None:
    made = Parts(Untrained(writing(RETRIEVES), model=REFLECTING_MODEL))
    with pytest.raises(CapabilityMissing) as caught:
        await made.events(asking("self_rag"))
    assert "reflection tokens of Self-RAG, and scripted does not" in str(caught.value)
    assert "'[Retrieval]' is 4" in str(caught.value)
    assert caught.value.metadata == {"policy": "self_rag", "missing": "reflection_tokens"}
    assert made.generator.requests == made.retriever.requests == []


async def test_a_model_that_reads_reflection_tokens_as_ordinary_text_is_refused() -> None:
    made = reflecting(RETRIEVES)
    generate = made.generator.generate

    async def spelled(request: GenerateRequest):  # type: ignore[no-untyped-def]
        async with aclosing(generate(request)) as events:
            async for event in events:
                counted = hasattr(event, "prompt_tokens") and request.prefix
                yield replace(event, prompt_tokens=61) if counted else event

    made.generator.generate = spelled  # type: ignore[method-assign]
    with pytest.raises(CapabilityMissing, match="as ordinary text"):
        await made.events(asking("self_rag"))


async def test_a_model_is_checked_once() -> None:
    made = reflecting(RETRIEVES)
    loop = made.loop()
    for _ in range(2):
        async with aclosing(loop.stream_answer(asking("self_rag"))) as events:
            answer = [event async for event in events]
        assert answer_in(answer).usage.llm_calls == 4
    assert len(made.generator.requests) == 2 + 2 * 4


async def test_time_that_runs_out_names_the_step() -> None:
    ticks = count()
    made = reflecting(RETRIEVES)
    made.clock = lambda: float(next(ticks))
    with pytest.raises(DeadlineExceeded) as caught:
        await made.events(asking("self_rag", budget=BudgetLimits(timeout_s=40)))
    assert "segment" in caught.value.metadata["stage"]


async def test_leaving_after_the_candidates_stops_everything() -> None:
    made = reflecting(RETRIEVES)
    async with aclosing(made.loop().stream_answer(asking("self_rag"))) as events:
        async for event in events:
            if isinstance(event, CandidatesScored):
                break
    assert made.generator.opened == made.generator.closed == 5
    assert other_tasks() == set()
