"""When an answer retrieves: its policy, as the gate or the router of the question changes it."""

from collections.abc import Mapping
from dataclasses import replace

from scaar.core.types import EffectivePolicy, Moment


class RetrievalPlan:
    """The policy that answers a question, and the moments at which it retrieves."""

    def __init__(self, policy: EffectivePolicy, routes: Mapping[str, EffectivePolicy]) -> None:
        self.policy = policy
        """The requested policy, or the one that a router chose."""
        self.routes = routes
        """The policies that a router may choose, by name."""
        self._closed = frozenset[Moment]()

    def route_to(self, policy: str) -> None:
        """Answer with one of the policies that a router may choose."""
        self.policy = self.routes[policy]

    def skip_retrieval(self) -> None:
        """Never retrieve for this question, or if the policy also judges drafts, for these only."""
        self._closed = frozenset(self.policy.moments)
        if self.gates_first_retrieval:
            self._closed = frozenset({Moment.BEFORE_ANSWER})

    def limit_passages(self, top_k: int) -> None:
        """Retrieve at most this number of passages at a time."""
        self.policy = replace(self.policy, top_k=min(top_k, self.policy.top_k))

    @property
    def moments(self) -> tuple[Moment, ...]:
        """The moments at which the policy retrieves for this question."""
        return tuple(each for each in self.policy.moments if each not in self._closed)

    @property
    def gates_first_retrieval(self) -> bool:
        """Whether a gate decides on the retrieval before the answer only.

        That is so for policies that also retrieve for uncertain drafts.
        """
        return {Moment.BEFORE_ANSWER, Moment.UNCERTAIN_DRAFT}.issubset(self.policy.moments)

    @property
    def rounds(self) -> int:
        """Number of times that the answer is written, if every round finds passages."""
        return self.policy.rounds if Moment.AFTER_ANSWER in self.moments else 1

    @property
    def retrieves_first(self) -> bool:
        """Whether every sentence or window is written after a retrieval."""
        return not {Moment.BEFORE_SENTENCE, Moment.BEFORE_WINDOW}.isdisjoint(self.moments)
