"""The policies that always retrieve: look up, then write; never for the conclusion."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.core.errors import InvalidRequest, PromptTooLong
from scaar.core.types import (
    AnswerEnd,
    AnswerEvent,
    BudgetLimits,
    GenerateRequest,
    Passage,
    PassagesRetrieved,
    QueryBuilt,
    TokenDrafted,
)
from scaar.testing.fakes import InMemoryRetriever, Piece

from .scripted import (
    BORN_IN_LONDON,
    QUESTION,
    SO_LONDON,
    Parts,
    Script,
    Untouchable,
    answer_in,
    asking,
    kinds,
    only,
    parts,
    sentences_in,
    words_of,
)

SHE_WROTE = " She wrote of engines."
TEXT = BORN_IN_LONDON + SHE_WROTE + SO_LONDON
"""Words: 5, 4, 5."""


def writing(text: str = TEXT) -> Script:
    """Continues one text for any request, with one token for each word."""
    return lambda requested: words_of(text.removeprefix(requested.prefix))


def retriever(*texts: str) -> InMemoryRetriever:
    """A passage for every text, its id the text's last word."""
    return InMemoryRetriever({"lab": [Passage(text.split()[-1], "", text) for text in texts]})


def queries(events: Sequence[AnswerEvent]) -> list[str]:
    return [event.query.text for event in only(QueryBuilt, events)]


def shown(events: Sequence[AnswerEvent], sentence: int) -> str:
    drafted = only(TokenDrafted, events)
    return "".join(event.token.text for event in drafted if event.sentence == sentence)


def asked_of(ports: Parts) -> list[str]:
    return [query for request in ports.retriever.requests for query in request.queries]


async def test_fixed_sentence_looks_up_before_every_sentence_but_the_conclusion() -> None:
    ports = parts(writing(), scorer=Untouchable(), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("fixed_sentence"))
    looked_up = ["QueryBuilt", "PassagesRetrieved", "TokenDrafted", "SentenceAccepted"]
    assert kinds(events) == [
        "AnswerStarted",
        *looked_up,
        *looked_up,
        *("TokenDrafted", "SentenceAccepted"),
        "AnswerFinished",
    ]
    assert queries(events) == [QUESTION, BORN_IN_LONDON.strip()]
    first, second = only(QueryBuilt, events)
    assert (first.query.formulation, first.query.fell_back) == ("question", False)
    assert second.query.formulation == "last_sentence"
    answer = answer_in(events)
    assert sentences_in(events) == [BORN_IN_LONDON, SHE_WROTE, SO_LONDON]
    assert (answer.answer, answer.end) == ("London", AnswerEnd.ANSWER_PHRASE)
    assert (answer.usage.retrievals, answer.usage.llm_calls) == (2, 2)
    assert [shown(events, number) for number in range(3)] == sentences_in(events)


async def test_passages_replace_the_earlier_ones() -> None:
    ports = parts(writing(), retriever=retriever("Where a1", "London b2"))
    answer = answer_in(await ports.events(asking("fixed_sentence")))
    cited = [sentence.passage_ids for sentence in answer.sentences]
    assert cited == [("a1",), ("b2",), ("b2",)], "the conclusion uses the passages of the prompt"
    assert [passage.id for passage in answer.passages] == ["a1", "b2"]
    assert ["a1" in request.prompt for request in ports.generator.requests] == [True, False]


FOUND = ("Where Ada a1", "was b2", "in London c3", "in London d4")
"""The first two are found for the question, the others for the first sentence."""


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (15, [("a1", "b2"), ("a1", "b2", "c3", "d4")]),
        (3, [("a1", "b2"), ("b2", "c3", "d4")]),
        (1, [("a1",), ("c3",)]),
    ],
)
async def test_ircot_accumulates_passages_and_drops_the_oldest(
    most: int, expected: list[tuple[str, ...]]
) -> None:
    ports = parts(writing(), retriever=retriever(*FOUND))
    answer = answer_in(await ports.events(asking("ircot", top_k=2, max_passages=most)))
    first, second, conclusion = (sentence.passage_ids for sentence in answer.sentences)
    assert [first, second] == expected
    assert conclusion == second


async def test_a_repeated_passage_is_kept_once_as_the_newest() -> None:
    ports = parts(writing(), retriever=retriever("Where born a1", "was b2", "in London c3"))
    answer = answer_in(await ports.events(asking("ircot", top_k=2)))
    first, second, _ = (sentence.passage_ids for sentence in answer.sentences)
    assert first == ("a1", "b2")
    assert second == ("b2", "c3", "a1")


async def test_fixed_length_looks_up_before_every_window() -> None:
    ports = parts(writing(), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("fixed_length", window_tokens=3, last_n_tokens=2))
    assert sentences_in(events) == [
        " Ada was born",
        " in London. She",
        " wrote of engines.",
        SO_LONDON,
    ]
    assert asked_of(ports) == [QUESTION, "was born", "London. She"]
    answer = answer_in(events)
    assert [sentence.concluding for sentence in answer.sentences] == [False, False, False, True]
    assert answer.end is AnswerEnd.ANSWER_PHRASE
    assert answer.text == TEXT


@pytest.mark.parametrize("length", range(1, 20))
async def test_a_window_that_begins_in_the_conclusion_is_not_looked_up_for(length: int) -> None:
    words = [word for word, _ in words_of(TEXT)]
    ports = parts(writing(), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("fixed_length", window_tokens=length))
    starts = range(0, 9, length)
    assert len(asked_of(ports)) == len(starts), "nine words stand before the conclusion"
    answer = answer_in(events)
    assert (answer.answer, answer.text) == ("London", TEXT)
    last = answer.sentences[len(starts) :]
    reached = starts[-1] + length
    assert "".join(sentence.text for sentence in last) == "".join(words[reached:])


async def test_what_a_model_says_after_its_conclusion_is_cut_from_the_window() -> None:
    more = " She lived there. She wrote."
    ports = parts(writing(TEXT + more), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("fixed_length", window_tokens=17))
    assert answer_in(events).text == TEXT
    assert answer_in(events).end is AnswerEnd.ANSWER_PHRASE


@pytest.mark.parametrize("length", [9, 12, 13])
async def test_nothing_after_the_conclusion_is_written_into_the_next_window(length: int) -> None:
    ports = parts(writing(TEXT + " She lived there."), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("fixed_length", window_tokens=length))
    assert answer_in(events).text == TEXT
    assert len(asked_of(ports)) == 1


async def test_a_window_completes_a_character_that_it_begins() -> None:
    pieces = [(" Ada", -0.1), ("", -0.1), ("", -0.1), (" 🙂", -0.1), (" smiled.", -0.1)]

    def script(requested: GenerateRequest) -> list[Piece]:
        return [] if requested.prefix else [*pieces, *words_of(SO_LONDON)]

    events = await parts(script, retriever=retriever("Ada was born a1")).events(
        asking("fixed_length", window_tokens=2)
    )
    assert sentences_in(events)[0] == " Ada 🙂"


async def test_without_remaining_retrievals_the_model_continues_the_text() -> None:
    limits = BudgetLimits(max_retrievals=1)
    ports = parts(writing(), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("fixed_sentence", budget=limits))
    assert sentences_in(events) == [BORN_IN_LONDON, SHE_WROTE, SO_LONDON]
    assert [sentence.passage_ids for sentence in answer_in(events).sentences] == [("a1",)] * 3
    assert answer_in(events).usage.llm_calls == len(ports.generator.requests) == 1


async def test_without_any_retrieval_the_answer_is_the_models_own() -> None:
    limits = BudgetLimits(max_retrievals=0)
    ports = parts(writing(), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("ircot", budget=limits))
    assert asked_of(ports) == []
    assert answer_in(events).text == TEXT
    assert {sentence.passage_ids for sentence in answer_in(events).sentences} == {()}


async def test_without_passages_the_text_of_the_look_ahead_is_accepted() -> None:
    ports = parts(writing(), retriever=retriever("fish f1"))
    events = await ports.events(asking("fixed_sentence"))
    assert len(asked_of(ports)) == 2
    assert [event.passages for event in only(PassagesRetrieved, events)] == [(), ()]
    assert sentences_in(events) == [BORN_IN_LONDON, SHE_WROTE, SO_LONDON]
    assert [shown(events, number) for number in range(3)] == sentences_in(events)


async def test_a_model_that_ends_its_text_is_made_to_conclude() -> None:
    def script(requested: GenerateRequest) -> list[Piece]:
        return words_of(" London." if requested.prefix.endswith("answer is") else BORN_IN_LONDON)

    for policy in ("fixed_sentence", "fixed_length", "ircot"):
        events = await parts(script, retriever=retriever("Ada was born a1")).events(asking(policy))
        assert sentences_in(events) == [BORN_IN_LONDON, SO_LONDON]
        assert answer_in(events).end is AnswerEnd.END_OF_SEQUENCE


async def test_ircot_drops_its_oldest_passages_where_the_model_has_no_room() -> None:
    def script(requested: GenerateRequest) -> list[Piece]:
        if "Where Ada" in requested.prompt and requested.prefix:
            raise PromptTooLong.of("prompt", "must be at most 7 tokens, not 9")
        return writing()(requested)

    ports = parts(script, retriever=retriever(*FOUND), draft_ahead=False)
    answer = answer_in(await ports.events(asking("ircot", top_k=2)))
    message = [sentence.passage_ids for sentence in answer.sentences]
    assert message == [("a1", "b2"), ("b2", "c3", "d4"), ("b2", "c3", "d4")]


@pytest.mark.parametrize("query", ["pfq", "current_sentence"])
async def test_a_query_of_the_draft_needs_a_policy_that_drafts(query: str) -> None:
    for policy in ("fixed_length", "fixed_sentence", "ircot"):
        message = rf"^policy\.query: {query} needs a draft, and policy {policy} judges none$"
        with pytest.raises(InvalidRequest, match=message):
            await parts(writing()).events(asking(policy, query=query))


@pytest.mark.parametrize(
    ("query", "more", "expected"),
    [
        ("full_context", {}, BORN_IN_LONDON.strip()),
        ("question", {}, QUESTION),
        ("last_sentence", {"include_question": True}, QUESTION + BORN_IN_LONDON),
        ("last_n_tokens", {"last_n_tokens": 1}, "London."),
    ],
)
async def test_any_query_of_accepted_text_is_supported(
    query: str, more: dict[str, object], expected: str
) -> None:
    ports = parts(writing(), retriever=retriever("Ada was born a1"))
    events = await ports.events(asking("fixed_sentence", query=query, **more))
    assert queries(events) == [QUESTION, expected]


async def test_a_window_asks_by_the_sentences_of_the_text() -> None:
    ports = parts(writing(), retriever=retriever("Ada was born a1"))
    requested = asking("fixed_length", query="last_sentence", window_tokens=7)
    assert queries(await ports.events(requested)) == [QUESTION, "She wrote"]


@pytest.mark.parametrize(
    ("policy", "setting", "message"),
    [
        ("ircot", {"max_passages": 0}, "max_passages: must be 1 to 100 for policy ircot, not 0"),
        ("ircot", {"window_tokens": 5}, "window_tokens: policy ircot has no such setting"),
        (
            "fixed_length",
            {"window_tokens": 1025},
            "window_tokens: must be 1 to 1024 for policy fixed_length, not 1025",
        ),
        ("fixed_sentence", {"theta": 0.5}, "theta: policy fixed_sentence has no such setting"),
    ],
)
async def test_a_setting_that_does_not_apply_is_refused(
    policy: str, setting: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidRequest, match=rf"^policy\.{message}$"):
        await parts(writing()).events(asking(policy, **setting))


async def test_the_policy_that_was_run_names_its_window_and_its_memory() -> None:
    limits = BudgetLimits(max_retrievals=0)
    for policy, window, most in (
        ("fixed_length", 16, 0),
        ("fixed_sentence", 0, 0),
        ("ircot", 0, 15),
    ):
        ports = parts(writing())
        request = replace(asking(policy, budget=limits))
        made = answer_in(await ports.events(request)).provenance
        assert (made.policy.window_tokens, made.policy.max_passages) == (window, most)
        assert (made.index, made.scorer) == ("lab", "")
