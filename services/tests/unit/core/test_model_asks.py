"""The policy of a model that asks: its requests, the decisions on them, and its answer."""

import json
import math
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import count

import pytest

from scaar.core.errors import BackendUnavailable, CapabilityMissing, DeadlineExceeded, PromptTooLong
from scaar.core.prompts.dialects import DIALECTS, Dialect
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    BudgetLimits,
    GenerateRequest,
    OnFailure,
    Passage,
    PassagesRetrieved,
    QueryBuilt,
    RetrieveRequest,
    RetrieveResult,
    SearchDecision,
    SearchDialect,
    SearchRequested,
)
from scaar.testing.fakes import SCRIPTED_MODEL, InMemoryRetriever, Piece, ScriptedGenerator

from .scripted import PASSAGES, QUESTION, Parts, answer_in, asking, kinds, only, other_tasks, parts

R1 = DIALECTS[SearchDialect.SEARCH_R1]
THOUGHT = "<think> I lack her birthplace. </think>\n"


def requested(query: str, dialect: Dialect) -> str:
    call = json.dumps({"name": "search", "arguments": {"query": query}})
    return f"{THOUGHT}{dialect.query[0]} {call if dialect.calls else query} {dialect.query[1]}"


def requesting(query: str, dialect: Dialect = R1) -> str:
    return f"{requested(query, dialect)} and more"


def answering(answer: str = "London", dialect: Dialect = R1) -> str:
    return f"<think> I know. </think>{dialect.answer[0]} {answer} {dialect.answer[1]}"


def pieces(text: str, size: int = 4, logprob: float = -0.1) -> list[Piece]:
    """Return tokens of a number of characters, so that most tags are split."""
    return [(text[at : at + size], logprob) for at in range(0, len(text), size)]


def steps(
    *texts: str, forced: str = " forced ", dialect: Dialect = R1, size: int = 4
) -> Callable[[GenerateRequest], list[Piece]]:
    """Write one text after another, by the number of results read; the forced answer if asked."""

    def script(requested: GenerateRequest) -> list[Piece]:
        if requested.prefix.endswith(dialect.forcing):
            return pieces(forced, size)
        return pieces(texts[requested.prefix.count(dialect.results[1].strip())], size)

    return script


def asks(*texts: str, retriever: InMemoryRetriever | None = None, **scripted: object) -> Parts:
    script = steps(*texts, **scripted)  # type: ignore[arg-type]
    return parts(script, **({"retriever": retriever} if retriever else {}))


def decisions(events: Sequence[AnswerEvent]) -> list[SearchDecision]:
    return [event.decision for event in only(SearchRequested, events)]


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("name", SearchDialect)
async def test_a_request_is_searched_and_the_same_text_continues_with_its_results(
    name: SearchDialect, size: int
) -> None:
    dialect = DIALECTS[name]
    made = asks(
        requesting("Ada birthplace", dialect),
        answering(dialect=dialect),
        dialect=dialect,
        size=size,
    )
    events = await made.events(asking("model_asks", dialect=name))
    assert kinds(events) == [
        "AnswerStarted",
        *("SearchRequested", "QueryBuilt", "PassagesRetrieved"),
        *("SentenceAccepted", "AnswerFinished"),
    ]
    (request,), (built,) = only(SearchRequested, events), only(QueryBuilt, events)
    assert (request.number, request.text) == (1, THOUGHT)
    assert (request.query, request.decision) == ("Ada birthplace", SearchDecision.SEARCHED)
    assert request.probability == pytest.approx(math.exp(-0.1))
    assert (built.query.text, built.query.formulation) == ("Ada birthplace", "request")
    first, second = made.generator.requests
    assert first.prompt == second.prompt
    assert first.prompt.count(QUESTION) == 1
    written = requested("Ada birthplace", dialect)
    results = second.prefix.removeprefix(written)
    assert second.prefix == written + results, "what follows the closing tag is cut"
    assert results.startswith(dialect.results[0])
    assert results.endswith(dialect.results[1])
    assert PASSAGES[0].text in results
    answer = answer_in(events)
    assert (answer.answer, answer.text, answer.end) == (
        *("London", "London"),
        AnswerEnd.ANSWER_PHRASE,
    )
    assert answer.sentences[0].passage_ids == tuple(each.id for each in answer.passages) != ()
    assert (answer.usage.retrievals, answer.usage.llm_calls) == (1, 2)


@pytest.mark.parametrize("name", SearchDialect)
async def test_a_model_that_never_asks_answers_without_a_retrieval(name: SearchDialect) -> None:
    dialect = DIALECTS[name]
    made = asks(answering("Paris", dialect), dialect=dialect)
    answer = answer_in(await made.events(asking("model_asks", dialect=name)))
    assert (answer.text, answer.usage.retrievals, answer.passages) == ("Paris", 0, ())
    assert made.retriever.requests == []


@pytest.mark.parametrize(
    ("dialect", "explained"), [("search_r1", False), ("r1_searcher", True), ("tool_call", True)]
)
async def test_a_model_trained_on_a_dialect_reads_no_explanation_of_it(
    dialect: str, explained: bool
) -> None:
    made = asks(answering(dialect=DIALECTS[SearchDialect(dialect)]))
    request = asking("model_asks", dialect=dialect)
    await made.events(replace(request, prompt_profile="lab_search", question="Who <search>?"))
    (requested,) = made.generator.requests
    assert (requested.prompt == "Question: Who < search>?\nAnswer:") == (not explained)


async def test_empty_and_repeated_requests_are_refused_and_the_model_continues() -> None:
    made = asks(requesting("Ada"), requesting(" "), requesting("ADA"), answering())
    events = await made.events(asking("model_asks"))
    assert decisions(events) == ["searched", "empty", "repeated"]
    assert len(made.retriever.requests) == 1
    notes = made.generator.requests[-1].prefix
    assert "because the query is empty" in notes
    assert "Not searched again" in notes
    assert answer_in(events).answer == "London"


CALL = DIALECTS[SearchDialect.TOOL_CALL]


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("Ada birthplace", "not valid JSON"),
        ('{"name": "search", "arguments": {"query": "Ada"}', "not valid JSON"),
        ('{"name": "search", "arguments": "Ada"}', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('["Ada"]', "not a JSON object"),
        ('{"name": "weather", "arguments": {"query": "Ada"}}', 'no tool "weather", only "search"'),
        ('{"arguments": {"query": "Ada"}}', 'no tool "None", only "search"'),
        ('{"name": "search", "arguments": {"keywords": "Ada"}}', 'no "query" that is a string'),
        ('{"name": "search", "arguments": {"query": 5}}', 'no "query" that is a string'),
        ('{"name": "search"}', 'no "query" that is a string'),
    ],
)
async def test_the_model_reads_what_is_wrong_with_a_malformed_call_and_continues(
    call: str, wrong: str
) -> None:
    texts = (f"{CALL.query[0]}{call}{CALL.query[1]}", answering())
    made = asks(*texts, dialect=CALL, size=1000)
    events = await made.events(asking("model_asks", dialect="tool_call"))
    (request,) = only(SearchRequested, events)
    assert (request.number, request.decision) == (1, SearchDecision.MALFORMED)
    results = made.generator.requests[-1].prefix.removeprefix(texts[0])
    assert results.startswith(f"{CALL.results[0]}Not searched, because ")
    assert wrong in results
    assert made.retriever.requests == []
    answer = answer_in(events)
    assert (answer.answer, answer.usage.retrievals) == ("London", 0)


async def test_malformed_calls_count_as_requests() -> None:
    made = asks(*["<tool_call>Ada</tool_call>"] * 9, dialect=CALL)
    events = await made.events(asking("model_asks", dialect="tool_call", max_searches=2))
    assert decisions(events) == [*["malformed"] * 2, *["limit"] * 2]
    assert "No more searches are possible" in made.generator.requests[-1].prefix


@pytest.mark.parametrize(
    "call",
    [
        '\n{"name": "search", "arguments": {"query": "Ada"}}\n',
        '{"arguments":{"query":"Ada"},"name":"search"}',
        '{"name": "search", "arguments": "{\\"query\\": \\"Ada\\"}"}',
        '{"name": "search", "arguments": {"top_k": 5, "query": "\\u0041da"}}',
    ],
)
async def test_the_query_of_a_call_is_searched_however_its_json_is_written(call: str) -> None:
    made = asks(f"{CALL.query[0]}{call}{CALL.query[1]}", answering(), dialect=CALL)
    events = await made.events(asking("model_asks", dialect="tool_call"))
    (request,) = only(SearchRequested, events)
    assert (request.query, request.decision) == ("Ada", SearchDecision.SEARCHED)


async def test_the_probability_of_a_call_is_that_of_its_query() -> None:
    def script(requested: GenerateRequest) -> list[Piece]:
        if requested.prefix:
            return pieces(answering())
        return [
            *(("<tool_call>", -3.0), ('{"name": "search", "arguments": {"query": "', -3.0)),
            *(("Ada", -0.2), (" birthplace", -0.01), ('"}}', -3.0), ("</tool_call>", -3.0)),
        ]

    events = await parts(script).events(asking("model_asks", dialect="tool_call", skip_above=0.8))
    (request,) = only(SearchRequested, events)
    assert request.probability == pytest.approx(math.exp(-0.2))
    assert request.decision == SearchDecision.SKIPPED


@pytest.mark.parametrize(
    "limits", [{"max_searches": 2}, {"budget": BudgetLimits(max_retrievals=2)}]
)
async def test_beyond_the_limit_requests_are_refused_and_an_answer_is_forced(
    limits: dict[str, object],
) -> None:
    endless = [requesting(f"Ada {number}") for number in range(9)]
    made = asks(*endless)
    events = await made.events(asking("model_asks", **limits))  # type: ignore[arg-type]
    assert decisions(events) == [*["searched"] * 2, *["limit"] * 2]
    answer = answer_in(events)
    assert (answer.answer, answer.end) == ("forced", AnswerEnd.END_OF_SEQUENCE)
    assert answer.usage.retrievals == 2


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think> done </think>", "<think> done </think>"),
        ("<think> hm </think><search> Ada", "<think> hm </think>"),
        ("no opening tag </search>", "no opening tag "),
        ("<answer></answer>", "<answer>"),
        ("", ""),
    ],
)
async def test_a_text_without_answer_or_complete_request_gets_a_forced_answer(
    text: str, kept: str
) -> None:
    made = asks(text, forced=" London </answer> <search> more")
    events = await made.events(asking("model_asks"))
    assert made.generator.requests[-1].prefix == kept + R1.forcing
    assert decisions(events) == []
    answer = answer_in(events)
    assert (answer.answer, answer.end) == ("London", AnswerEnd.END_OF_SEQUENCE)


@pytest.mark.parametrize("tag", ["<search> Ada", "<information>", "</information>"])
async def test_no_tag_is_part_of_an_answer(tag: str) -> None:
    made = asks(f"<answer> London {tag}", forced=f" London {tag} Paris")
    answer = answer_in(await made.events(asking("model_asks")))
    assert answer.text == "London"


async def test_tokens_that_run_out_force_an_answer() -> None:
    made = asks(requesting("Ada"), "endless " * 100)
    budget = BudgetLimits(max_tokens=60)
    answer = answer_in(await made.events(asking("model_asks", budget=budget)))
    assert (answer.answer, answer.end) == ("forced", AnswerEnd.MAX_TOKENS)
    assert answer.usage.generated_tokens <= 80


@pytest.mark.parametrize(
    ("logprob", "skip_above", "decision"),
    [(-0.1, None, "searched"), (-0.1, 0.95, "searched"), (-0.1, 0.9, "skipped")],
)
async def test_a_search_is_skipped_if_every_token_of_its_query_is_certain(
    logprob: float, skip_above: float | None, decision: str
) -> None:
    def script(requested: GenerateRequest) -> list[Piece]:
        if requested.prefix:
            return pieces(answering())
        return [
            *((THOUGHT, -3.0), ("<search>", -3.0)),
            *((" Ada", logprob), (" birthplace", -0.01), ("</search>", -3.0)),
        ]

    made = parts(script)
    events = await made.events(asking("model_asks", skip_above=skip_above))
    (request,) = only(SearchRequested, events)
    assert request.decision == decision
    assert request.probability == pytest.approx(math.exp(-0.1))
    skipped = decision == "skipped"
    assert (only(QueryBuilt, events) == []) == skipped
    assert ("because you are certain" in made.generator.requests[-1].prefix) == skipped
    assert answer_in(events).answer == "London"


async def test_skipping_needs_probabilities() -> None:
    blind = replace(SCRIPTED_MODEL, capabilities=frozenset())
    made = Parts(ScriptedGenerator(steps(answering()), model=blind))
    assert answer_in(await made.events(asking("model_asks"))).answer == "London"
    with pytest.raises(CapabilityMissing, match="logprobs"):
        await made.events(asking("model_asks", skip_above=0.5))


@pytest.mark.parametrize("name", SearchDialect)
async def test_tags_in_passages_and_questions_are_not_tags_for_the_model(
    name: SearchDialect,
) -> None:
    dialect = DIALECTS[name]
    tags = " ".join(tag.strip() for tag in (*dialect.query, *dialect.results, dialect.answer[0]))
    retriever = InMemoryRetriever({"lab": [Passage("p1", tags, f"Ada {tags.upper()}")]})
    made = asks(
        requesting("Ada", dialect), answering(dialect=dialect), retriever=retriever, dialect=dialect
    )
    request = replace(asking("model_asks", dialect=name), question=f"Who? {tags}")
    await made.events(request)
    first, second = made.generator.requests
    explained = dialect.render("Who?", 5)
    for tag in tags.split():
        assert first.prompt.count(tag) == explained.count(tag)
        assert second.prefix.lower().count(tag) == (0 if tag == dialect.answer[0] else 1)


async def test_passages_that_do_not_fit_are_dropped_the_worst_first() -> None:
    script = steps(requesting("Ada London"), answering())

    def small(requested: GenerateRequest) -> list[Piece]:
        if requested.prefix.count("Doc ") > 1:
            raise PromptTooLong("too long")
        return script(requested)

    made = parts(small)
    events = await made.events(asking("model_asks"))
    (found,) = only(PassagesRetrieved, events)
    assert len(found.passages) == 2
    assert answer_in(events).sentences[0].passage_ids == (found.passages[0].id,)


class Lost(InMemoryRetriever):
    async def retrieve(self, request: RetrieveRequest) -> RetrieveResult:
        raise BackendUnavailable("gone")


async def test_a_failed_search_fails_the_answer_or_marks_it_as_degraded() -> None:
    made = asks(requesting("Ada"), answering("Paris"), retriever=Lost({"lab": PASSAGES}))
    with pytest.raises(BackendUnavailable):
        await made.events(asking("model_asks"))
    request = replace(asking("model_asks"), on_failure=OnFailure.ACCEPT_DRAFT)
    answer = answer_in(await made.events(request))
    assert (answer.answer, answer.degraded) == ("Paris", True)


async def test_nothing_found_is_told_to_the_model() -> None:
    made = asks(requesting("zebra"), answering())
    await made.events(asking("model_asks"))
    assert "No passages found." in made.generator.requests[-1].prefix


async def test_time_that_runs_out_names_the_step() -> None:
    ticks = count()
    made = asks(requesting("Ada"), answering())
    made.clock = lambda: float(next(ticks))
    with pytest.raises(DeadlineExceeded) as caught:
        await made.events(asking("model_asks", budget=BudgetLimits(timeout_s=30)))
    assert caught.value.metadata == {"stage": "writing up to search 1"}


async def test_leaving_after_a_request_stops_everything() -> None:
    made = asks(requesting("Ada"), answering())
    async with aclosing(made.loop().stream_answer(asking("model_asks"))) as events:
        async for event in events:
            if isinstance(event, SearchRequested):
                break
    assert made.generator.opened == made.generator.closed == 1
    assert made.retriever.requests == []
    assert other_tasks() == set()
