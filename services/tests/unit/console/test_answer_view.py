"""The sections of an answer's page: what is below each heading, and what is folded."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scaar.console.answer_view import Sources, sources_of, view_of
from scaar.console.passage_names import PassageNames
from scaar.console.rendering import templates
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import (
    AcceptedSentence,
    Answer,
    AnswerEnd,
    AnswerEvent,
    AnswerStarted,
    Degradation,
    JudgedWord,
    PassagesRetrieved,
    PolicyRequest,
    Query,
    QueryBuilt,
    QuestionRewritten,
    RetrievedPassage,
    RewriteOutcome,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    Usage,
)
from scaar.testing.fakes import SCRIPTED_MODEL
from scaar.testing.gateways import PROVENANCE

DEGRADED = Degradation("retrieve", "OVERLOADED", "full")


def started(policy: str) -> AnswerStarted:
    effective = effective_policy(PolicyRequest(policy), SCRIPTED_MODEL)
    return AnswerStarted(replace(PROVENANCE, policy=effective))


def passage(name: str) -> RetrievedPassage:
    return RetrievedPassage(name, f"Title {name}", "", 1.0, 1)


def answer(*sentences: SentenceAccepted) -> Answer:
    accepted = tuple(event.accepted for event in sentences)
    return Answer("", accepted, AnswerEnd.END_OF_SEQUENCE, Usage(1, 1, 1, 1, 1.0), PROVENANCE)


def search(sentence: int, *names: str, query: str = "question") -> list[AnswerEvent]:
    passages = tuple(map(passage, names))
    return [
        QueryBuilt(sentence, Query("Who? words of a query", query)),
        PassagesRetrieved(sentence, "docs", "1", passages),
    ]


def accepted(
    sentence: int,
    *names: str,
    text: str = "",
    degraded: Degradation | None = None,
    supported_by: tuple[str, ...] = (),
) -> SentenceAccepted:
    accepted = AcceptedSentence(
        text or f" Text {sentence}.",
        names,
        degraded=degraded,
        supporting_passage_ids=supported_by,
    )
    return SentenceAccepted(sentence, accepted, 0, 1)


def judged(sentence: int, *, uncertain: bool) -> SentenceJudged:
    word = JudgedWord("Text", 0, 4, 0.1 if uncertain else 0.9, 0.8, uncertain)
    return SentenceJudged(sentence, " Text", (word,), 0 if uncertain else None, uncertain)


def page_of(events: Sequence[AnswerEvent], *, question: str = "") -> str:
    view = view_of(events, question=question)
    return str(templates().get_template("blocks.html").module.sections(view))  # type: ignore[attr-defined]


def test_sentences_that_only_repeat_their_passages_are_folded() -> None:
    events = [started("single_round"), *search(0, "a", "b", "c")]
    events += [
        accepted(sentence, "a", "b", "c", supported_by=("a",) * (sentence < 3))
        for sentence in range(4)
    ]
    view = view_of(events)
    assert [(section.heading, section.repeated) for section in view.sections] == [
        ("Before writing", ""),
        ("Sentence 1", ""),
        (
            "Sentences 2 to 4",
            "Written with the same three passages as before. "
            "No passage seems to support 1 of them.",
        ),
    ]
    page = page_of(events)
    assert '<ol start="2">' in page
    assert page.count("It searched") == 1
    assert page.count('Supported by <a href="/passages/docs/a"><bdi>Title a</bdi></a>.') == 3
    assert page.count("No passage seems to support this sentence.") == 1


def test_a_sentence_with_a_failure_is_not_folded() -> None:
    events = [started("single_round"), *search(0, "a"), accepted(0, "a"), accepted(1, "a")]
    events += [accepted(2, "a", degraded=DEGRADED), accepted(3, "a")]
    headings = [section.heading for section in view_of(events).sections]
    assert headings == ["Before writing", *(f"Sentence {number}" for number in range(1, 5))]


def test_a_rewrite_is_shown_once_and_the_legend_as_long_as_it_is_the_same() -> None:
    events: list[AnswerEvent] = [started("flare")]
    for sentence in range(2):
        events += [judged(sentence, uncertain=True), *search(sentence, "a", query="content_words")]
        events.append(SentenceRegenerated(sentence, " Draft.", " Rewrite."))
        events.append(accepted(sentence, "a", text=" Rewrite."))
    page = page_of(events)
    assert page.count("<ins") == 2
    assert '<p class="accepted">' not in page
    assert page.count('class="legend') == 1
    assert "It found the same passage as before" in page


def test_the_words_of_a_draft_that_was_kept_are_folded_with_a_legend_of_their_own() -> None:
    page = page_of([started("flare"), judged(0, uncertain=False), accepted(0), accepted(1)])
    assert "<summary>The words of the draft</summary>" in page
    assert page.count('class="legend') == 1
    assert page.count("Written without passages.") == 2


def test_an_answer_that_never_searches_says_so() -> None:
    view = view_of([started("no_retrieval"), accepted(0)])
    assert view.reason is not None
    assert view.reason.text == "The policy no_retrieval never searches."


def test_a_sentence_without_passages_has_nothing_to_support_it() -> None:
    page = page_of([started("no_retrieval"), accepted(0)])
    assert "supports" not in page
    assert "Supported" not in page


def test_the_sources_of_an_answer_are_the_passages_that_support_it_else_those_read() -> None:
    names = PassageNames()
    names.add(PassagesRetrieved(0, "docs", "1", tuple(map(passage, ("a", "b")))))
    link_a, link_b = names.of(["a", "b"])
    answer_text = templates().get_template("blocks.html").module.answer_text  # type: ignore[attr-defined]

    supported = answer(accepted(0, "a", "b", supported_by=("b",)), accepted(1, "a", "b"))
    sources = sources_of(supported, names)
    assert sources == Sources(supporting=(link_b,), read=(link_a, link_b))
    assert "Supported by 1 source" in str(answer_text(supported, sources))

    unsupported = answer(accepted(0, "a", "b"))
    page = str(answer_text(unsupported, sources_of(unsupported, names)))
    assert "No passage seems to support this answer." in page
    assert "Written with 2 sources" in page


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who?", "It searched for the question and <q><bdi>words of a query</bdi></q>"),
        ("", "It searched for: <q><bdi>Who? words of a query</bdi></q>"),
        ("Who? words of a query", "It searched for: <q><bdi>Who? words of a query</bdi></q>"),
    ],
)
def test_a_query_that_starts_with_the_question_is_shown_without_it(
    question: str, text: str
) -> None:
    page = page_of([started("ircot"), *search(0, "a", query="last_sentence")], question=question)
    assert text in page


def test_a_rewritten_question_is_left_out_of_the_query() -> None:
    rewritten = QuestionRewritten("And her?", "Who?", RewriteOutcome.REWRITTEN)
    events = [started("ircot"), rewritten, *search(0, "a", query="last_sentence")]
    assert "It searched for the question and" in page_of(events, question="And her?")
