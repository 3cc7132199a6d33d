"""The events of an answer as blocks of its page, each with what its template needs beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scaar.console.differences import difference
from scaar.console.judgement_reasons import judgement_reason
from scaar.console.passage_list import PassageList
from scaar.console.passage_names import PassageNames
from scaar.console.query_view import query_view
from scaar.console.searches import Searches
from scaar.console.verification_reasons import is_verification
from scaar.console.words import words_of
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    PassagesRetrieved,
    PromptRead,
    QueryBuilt,
    QuestionRewritten,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    Token,
    TokenDrafted,
)


@dataclass(frozen=True, slots=True)
class Block:
    """An event with what its template needs beside it, and the heading that it is below."""

    kind: str
    heading: str
    event: AnswerEvent
    more: dict[str, Any] = field(default_factory=dict)


class Blocks:
    """Makes blocks of the events of one answer, in their order."""

    def __init__(self, question: str = "") -> None:
        """Make no block yet. Queries that start with the question are shown without it."""
        self._question = question.strip()
        self.names = PassageNames()
        """The names of the passages that the answer has retrieved so far."""
        self.searches = Searches()
        self._passages = PassageList()
        self._tokens: dict[int, list[Token]] = {}
        self._judged: dict[int, SentenceJudged] = {}
        self._legend = ("", "")
        """What the lines of the last draft stand for."""
        self._keys = set[bool]()
        """Whether a legend of drafts that are folded, and of others, has the key of all signs."""
        self._searched_for = ""
        """The heading below which the last search since an accepted sentence is shown."""
        self._shown = ""
        """The text of the sentence that was shown last."""
        self._number = 0

    def block(self, event: AnswerEvent) -> Block | None:
        """Return the block of an event; None for one that has none of its own.

        The ``number`` of a block is for the ids of its elements.
        """
        self._number += 1
        if isinstance(event, TokenDrafted):
            self._tokens.setdefault(event.sentence, []).append(event.token)
            return None
        if isinstance(event, QuestionRewritten):
            self._question = event.question.strip()
        self.searches.add(event)
        if isinstance(event, AnswerStarted | AnswerFinished | PromptRead):
            return None
        heading = self.searches.heading(event)
        return Block(type(event).__name__, heading, event, self._more(event, heading))

    def _more(self, event: AnswerEvent, heading: str) -> dict[str, Any]:
        match event:
            case SentenceJudged():
                return self._of_judged(event)
            case QueryBuilt():
                return self._of_query(event)
            case PassagesRetrieved():
                self.names.add(event)
                self._searched_for = heading
                return {"passages": self._passages.add(event)}
            case SentenceRegenerated():
                self._shown = event.text.strip()
                return {"difference": difference(event.draft, event.text, self._passages.last)}
            case SentenceAccepted():
                return self._of_accepted(event, heading)
        return {}

    def _of_judged(self, event: SentenceJudged) -> dict[str, Any]:
        self._judged[event.sentence] = event
        tokens = self._tokens.pop(event.sentence, [])
        policy = self.searches.policy
        if policy is None:
            return {"words": None, "reason": None}
        words = words_of(event, policy, tokens)
        # The words of a draft that is certain, or not judged by probabilities, are folded, with
        # a legend of their own.
        is_folded = event.trigger is None or is_verification(policy)
        has_key = is_folded not in self._keys
        self._keys.add(is_folded)
        legend = (words.line, words.threshold)
        has_legend = is_folded or legend != self._legend
        if not is_folded:
            self._legend = legend
        return {
            "words": words,
            "has_legend": has_legend,
            "has_key": has_key,
            "is_folded": is_folded,
            "reason": judgement_reason(event, policy),
            "number": self._number,
        }

    def _of_query(self, event: QueryBuilt) -> dict[str, Any]:
        judged, policy = self._judged.get(event.sentence), self.searches.policy
        self._passages.query = f"{event.query.text} {event.query.fused_with}"
        words = None
        if judged is not None and policy is not None:
            words = query_view(event.query, judged, policy)
        rest = _rest(event.query.text, self._question)
        return {
            "found": words,
            "number": self._number,
            "reason": self.searches.reason(event),
            "text": rest or event.query.text,
            "has_question": bool(rest),
        }

    def _of_accepted(self, event: SentenceAccepted, heading: str) -> dict[str, Any]:
        accepted = event.accepted
        searched, self._searched_for = self._searched_for == heading, ""
        is_shown, self._shown = accepted.text.strip() == self._shown, ""
        return {
            "is_shown": is_shown and bool(accepted.text),
            "written_with": self._passages.written_with(accepted.passage_ids, searched=searched),
            "names": self.names.of(accepted.passage_ids),
            "supporting": self.names.of(accepted.supporting_passage_ids),
        }


def _rest(query: str, question: str) -> str:
    """Return what follows the question in a query; empty if it does not start with it."""
    starts = bool(question) and query.startswith(question)
    return query.removeprefix(question).strip() if starts else ""


def sections_of(events: Sequence[AnswerEvent], blocks: Blocks) -> list[tuple[str, list[Block]]]:
    """Return the blocks of events below their headings, in the order of the events."""
    found: list[tuple[str, list[Block]]] = []
    for event in events:
        block = blocks.block(event)
        if block is None:
            continue
        if not found or found[-1][0] != block.heading:
            found.append((block.heading, []))
        found[-1][1].append(block)
    return found
