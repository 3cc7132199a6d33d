"""Where an answer searches, as the heading of its page, and why."""

from scaar.console.reason import Reason
from scaar.console.search_reasons import SearchPlace, policy_reason, search_reason
from scaar.console.verification_reasons import is_verification
from scaar.core.types import (
    AnswerDrafted,
    AnswerEvent,
    AnswerStarted,
    EffectivePolicy,
    GateJudged,
    Moment,
    PassagesFiltered,
    PassagesRetrieved,
    QueryBuilt,
    RetrievalWeighed,
    SearchDecision,
    SearchRequested,
    SentenceAccepted,
    SentenceJudged,
)

BEFORE_WRITING = "Before writing"
_OF_SEARCH = (SentenceJudged, QueryBuilt, PassagesRetrieved, PassagesFiltered)
"""The events that are shown below the heading of a search, if it has one."""
_DECISIONS = (SentenceJudged, QueryBuilt, GateJudged, SearchRequested, RetrievalWeighed)
"""The events whose blocks say why an answer searched, or did not."""


def heading_of(sentence: int) -> str:
    """Return the heading of a sentence, which counts from 0."""
    return f"Sentence {sentence + 1}"


class Searches:
    """The searches of one answer, which takes up its events in their order."""

    def __init__(self) -> None:
        self.policy: EffectivePolicy | None = None
        self._heading = ""
        """The heading of the next search; empty for that of its sentence."""
        self._round = 0
        self._before_writing = 0
        """Number of the searches before the first sentence."""
        self._is_requested = self._is_explained = self._is_decided = False

    def add(self, event: AnswerEvent) -> None:
        """Take up an event before its heading and its reason are asked for."""
        self._is_decided |= isinstance(event, _DECISIONS)
        match event:
            case AnswerStarted():
                self.policy = event.provenance.policy
                starts = Moment.BEFORE_ANSWER in self.policy.moments
                self._heading = BEFORE_WRITING if starts else ""
            case SentenceJudged():
                self._heading, self._is_explained = self._of_round(), event.retrieving
            case RetrievalWeighed():
                self._heading, self._is_explained = "", True
            case SentenceAccepted():
                self._heading = ""
            case SearchRequested():
                self._heading = f"Search {event.number}"
                self._is_requested = event.decision is SearchDecision.SEARCHED
            case AnswerDrafted():
                self._heading, self._round = f"Round {event.round}", event.round

    def heading(self, event: AnswerEvent) -> str:
        """Return the heading that an event is shown below."""
        sentence: int | None = getattr(event, "sentence", None)
        if sentence is None:
            return self._heading or BEFORE_WRITING
        if isinstance(event, _OF_SEARCH) and self._heading:
            return self._heading
        return heading_of(sentence)

    def writing_heading(self, sentence: int) -> str:
        """Return the heading that the tokens of a sentence are shown below as they are drafted."""
        return self._of_round() or heading_of(sentence)

    def _of_round(self) -> str:
        """Return the heading of an answer that is judged as a whole, or written again."""
        policy, number = self.policy, self._round + 1
        if policy is None or Moment.AFTER_ANSWER not in policy.moments:
            return ""
        is_draft = number < policy.rounds or is_verification(policy)
        return f"Round {number}" if is_draft else ""

    def reason(self, event: QueryBuilt) -> Reason | None:
        """Return why a search is made; None if a block before says it."""
        explained, self._is_explained = self._is_explained, False
        requested, self._is_requested = self._is_requested, False
        earlier = self._before_writing
        is_before = self._heading == BEFORE_WRITING
        self._before_writing += is_before
        if explained or self.policy is None:
            return None
        place = SearchPlace(
            round=0 if is_before else self._round,
            is_before_writing=is_before,
            earlier=earlier,
            by_question=event.query.formulation == "question" and not event.query.fused_with,
            is_requested=requested,
        )
        return search_reason(place, self.policy)

    def reason_without(self) -> Reason | None:
        """Return why the answer does not search; None if a block says it, or why it does."""
        return None if self.policy is None or self._is_decided else policy_reason(self.policy)
