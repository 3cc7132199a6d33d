"""Why an answer searched where no judged draft explains it, or why it never searched."""

from dataclasses import dataclass

from scaar.console.reason import Reason
from scaar.core.plurals import counted
from scaar.core.types import EffectivePolicy, FirstSearch, Moment


def policy_reason(policy: EffectivePolicy) -> Reason:
    """Return why an answer without a search, and without a judged draft, did not search."""
    if not policy.moments:
        return Reason(f"The policy {policy.name} never searches.")
    return Reason(f"The policy {policy.name} found no occasion to search.")


@dataclass(frozen=True, slots=True)
class SearchPlace:
    """Where in an answer a search is made that no judged draft explains.

    ``round`` is the round whose answer is written again, 0 for none. ``earlier`` is the number of
    searches before the first sentence that precede it. ``by_question`` is whether the query is the
    question, ``is_requested`` whether the model asked for the search.
    """

    round: int = 0
    is_before_writing: bool = False
    earlier: int = 0
    by_question: bool = False
    is_requested: bool = False


def search_reason(place: SearchPlace, policy: EffectivePolicy) -> Reason:
    """Return why an answer searched where no judged draft explains it."""
    query = " with the question" if place.by_question else ""
    if place.is_requested:
        return Reason("It searched because the model asked for it.")
    if place.is_before_writing:
        return _before_writing(place, policy)
    if place.round:
        return Reason(
            f"It searched with the answer of round {place.round}, to write the answer again."
        )
    if Moment.BEFORE_WINDOW in policy.moments:
        tokens = counted(policy.window_tokens, "token")
        return Reason(f"It searched{query}, as it does before every {tokens}.")
    if Moment.BEFORE_SENTENCE in policy.moments:
        return Reason(f"It searched{query}, as it does before every sentence.")
    return Reason(f"It searched{query}, as the policy {policy.name} does.")


def _before_writing(place: SearchPlace, policy: EffectivePolicy) -> Reason:
    if place.earlier:
        return Reason("It searched again before writing, for what the question still asks for.")
    if not place.by_question:
        return Reason("It searched before writing.")
    is_alone = len(policy.moments) == 1 and policy.first_search is FirstSearch.QUESTION
    if is_alone and policy.rounds == 1:
        return Reason("It searched once, with the question, before writing.")
    return Reason("It searched with the question before writing.")
