"""The sections of an answer's page: what is below each heading, and what is folded."""

from collections.abc import Sequence
from dataclasses import replace

from scaar.console.answer_view import view_of
from scaar.console.rendering import templates
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import (
    AcceptedSentence,
    AnswerEvent,
    AnswerStarted,
    Degradation,
    JudgedWord,
    PassagesRetrieved,
    PolicyRequest,
    Query,
    QueryBuilt,
    RetrievedPassage,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
)
from scaar.testing.fakes import SCRIPTED_MODEL
from scaar.testing.gateways import PROVENANCE

DEGRADED = Degradation("retrieve", "OVERLOADED", "full")


def started(policy: str) -> AnswerStarted:
    effective = effective_policy(PolicyRequest(policy), SCRIPTED_MODEL)
    return AnswerStarted(replace(PROVENANCE, policy=effective))


def search(sentence: int, *names: str, query: str = "question") -> list[AnswerEvent]:
    passages = tuple(RetrievedPassage(name, f"Title {name}", "", 1.0, 1) for name in names)
    return [
        QueryBuilt(sentence, Query("words of a query", query)),
        PassagesRetrieved(sentence, "docs", "1", passages),
    ]


def accepted(
    sentence: int, *names: str, text: str = "", degraded: Degradation | None = None
) -> SentenceAccepted:
    text = text or f" Text {sentence}."
    return SentenceAccepted(sentence, AcceptedSentence(text, names, degraded=degraded), 0, 1)


def judged(sentence: int, *, uncertain: bool) -> SentenceJudged:
    word = JudgedWord("Text", 0, 4, 0.1 if uncertain else 0.9, 0.8, uncertain)
    return SentenceJudged(sentence, " Text", (word,), 0 if uncertain else None, uncertain)


def page_of(events: Sequence[AnswerEvent]) -> str:
    return str(templates().get_template("blocks.html").module.sections(view_of(events)))  # type: ignore[attr-defined]


def test_sentences_that_only_repeat_their_passages_are_folded() -> None:
    events = [started("single_round"), *search(0, "a", "b", "c")]
    events += [accepted(sentence, "a", "b", "c") for sentence in range(4)]
    view = view_of(events)
    assert [(section.heading, section.repeated) for section in view.sections] == [
        ("Before writing", ""),
        ("Sentence 1", ""),
        ("Sentences 2 to 4", "Written with the same three passages as before."),
    ]
    page = page_of(events)
    assert '<ol start="2">' in page
    assert page.count("It searched") == 1
    assert page.count("Title a") == 1


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
