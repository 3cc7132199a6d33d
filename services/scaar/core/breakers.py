"""The breakers of a process: one for each dependency, in front of whatever asks it."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from scaar.core.breaker import Breaker, BreakerLimits, Connected, always_connected
from scaar.core.guarded import (
    GuardedAnswerer,
    GuardedGenerator,
    GuardedQueryBuilder,
    GuardedRetriever,
    GuardedScorer,
)
from scaar.core.observers import UNOBSERVED_BREAKERS, BreakerObserver, Dependency
from scaar.core.ports import Answerer, ContributionScorer, Generator, QueryBuilder, Retriever


@dataclass(frozen=True, slots=True)
class Breakers:
    """Puts ports behind breakers; without ``limits`` there are none, and a port stays itself.

    ``target`` is where the dependency is, and names it to people; ``share_s`` is the time that the
    port gives a call; ``connected`` is for a dependency whose channel knows its servers.
    """

    limits: BreakerLimits | None = None
    observer: BreakerObserver = UNOBSERVED_BREAKERS
    clock: Callable[[], float] = time.monotonic
    _made: dict[Dependency, Breaker] = field(default_factory=dict)

    def generator(
        self,
        generator: Generator,
        target: str,
        *,
        share_s: float = math.inf,
        connected: Connected = always_connected,
    ) -> Generator:
        """The generator, guarded."""
        breaker = self._breaker("generator", target, connected)
        return GuardedGenerator(generator, breaker, share_s) if breaker else generator

    def scorer(
        self,
        scorer: ContributionScorer,
        target: str,
        *,
        share_s: float = math.inf,
        connected: Connected = always_connected,
    ) -> ContributionScorer:
        """The scorer, guarded."""
        breaker = self._breaker("scorer", target, connected)
        return GuardedScorer(scorer, breaker, share_s) if breaker else scorer

    def query_builder(
        self,
        query_builder: QueryBuilder,
        target: str,
        *,
        share_s: float = math.inf,
        connected: Connected = always_connected,
    ) -> QueryBuilder:
        """The query builder, guarded."""
        breaker = self._breaker("query-builder", target, connected)
        return GuardedQueryBuilder(query_builder, breaker, share_s) if breaker else query_builder

    def retriever(
        self,
        retriever: Retriever,
        target: str,
        *,
        share_s: float = math.inf,
        connected: Connected = always_connected,
    ) -> Retriever:
        """The retriever, guarded."""
        breaker = self._breaker("retriever", target, connected)
        return GuardedRetriever(retriever, breaker, share_s) if breaker else retriever

    def answerer(
        self, answerer: Answerer, target: str, *, connected: Connected = always_connected
    ) -> Answerer:
        """The orchestrator, guarded."""
        breaker = self._breaker("orchestrator", target, connected)
        return GuardedAnswerer(answerer, breaker) if breaker else answerer

    def _breaker(self, service: str, target: str, connected: Connected) -> Breaker | None:
        if self.limits is None:
            return None
        dependency = Dependency(service, target)
        if dependency not in self._made:
            self._made[dependency] = Breaker(
                dependency,
                self.limits,
                observer=self.observer,
                clock=self.clock,
                connected=connected,
            )
        return self._made[dependency]


UNGUARDED = Breakers()
"""No breakers."""
