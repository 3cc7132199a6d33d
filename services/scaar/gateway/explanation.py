"""The decisions of an answer in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from scaar.core.types import (
    AnswerEvent,
    GateJudged,
    JudgedWord,
    PassagesRetrieved,
    QueryBuilt,
    QuestionRewritten,
    SearchRequested,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
)
from scaar.wire.messages.events import answer_event_from_json

_MAX_WORDS = 8


def explain_decisions(decisions: Iterable[Mapping[str, Any]]) -> str:
    """Return a line for each decision that led to a retrieval or to the text.

    Raises:
        InvalidRequest: one is not an event in the JSON form of ``AnswerEvent``.
    """
    events = [answer_event_from_json(each) for each in decisions]
    lines = [line for event in events if event is not None for line in _lines(event)]
    return "\n".join(lines) or "There is no decision to explain."


def _lines(event: AnswerEvent) -> Iterator[str]:
    match event:
        case QuestionRewritten():
            outcome = event.outcome.replace("_", " ")
            yield f"Question: {event.question!r} ({outcome}), from {event.original!r}."
        case GateJudged():
            relation = "reaches" if event.passed else "is below"
            top_k = "" if event.top_k is None else f" with top_k {event.top_k}"
            yield (
                f"Gate {event.gate}: the probability {event.probability:.3g} {relation} the "
                f"threshold {event.threshold:.3g}; the policy {event.policy} answers{top_k}."
            )
        case SentenceJudged():
            yield f"Sentence {event.sentence + 1}, draft: {event.text.strip()!r}."
            if event.without_contributions:
                yield "  The scorer cannot read the draft: it is judged without contributions."
            yield f"  {_judgement(event)}"
        case SearchRequested():
            yield f"The model requested the search {event.query!r}: {event.decision}."
        case QueryBuilt():
            yield f"  Query ({event.query.formulation}): {event.query.text!r}."
        case PassagesRetrieved():
            found = ", ".join(f"{each.id} ({each.title})" for each in event.passages)
            yield f"  Passages of {event.index}: {found or 'none'}."
        case SentenceRegenerated():
            same = event.draft.strip() == event.text.strip()
            yield "  Written again, unchanged." if same else f"  Rewritten: {event.text.strip()!r}."
        case SentenceAccepted():
            cited = ", ".join(event.accepted.passage_ids)
            source = f" from {cited}" if cited else " without passages"
            text = event.accepted.text.strip()
            yield f"Sentence {event.sentence + 1}, accepted{source}: {text!r}."
            if supporting := ", ".join(event.accepted.supporting_passage_ids):
                yield f"  Supported by {supporting}."
            elif event.accepted.lacks_support:
                yield "  No passage seems to support it."


def _judgement(event: SentenceJudged) -> str:
    uncertain = [each for each in event.words if each.uncertain]
    outcome = (
        "passages are retrieved" if event.retrieving else "the budget of retrievals is used up"
    )
    if event.abstains:
        return f"The model does not know. Therefore {outcome}."
    if event.trigger is None:
        return "No word is uncertain: the draft is kept."
    words = "; ".join(_word(each) for each in uncertain[:_MAX_WORDS])
    others = len(uncertain) - _MAX_WORDS
    more = f"; and {others} more" if others > 0 else ""
    found = words or _whole_sentence(event.words, event.trigger)
    return f"Uncertain: {found}{more}. Therefore {outcome}."


def _whole_sentence(words: Sequence[JudgedWord], trigger: int) -> str:
    # A caller may have left words out of the decision.
    most = f", most of all {words[trigger].text!r}" if 0 <= trigger < len(words) else ""
    return f"the sentence as a whole{most}"


def _word(word: JudgedWord) -> str:
    if word.value is not None:
        return f"{word.text!r} (value {word.value:.3g} above threshold {word.threshold:.3g})"
    probability = "unknown" if word.probability is None else f"{word.probability:.3g}"
    return f"{word.text!r} (probability {probability} below threshold {word.threshold:.3g})"
