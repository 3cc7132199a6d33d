"""The breakers of a process, one for each dependency."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from scaar.core.calls.breaker import Breaker, BreakerLimits, Connected, always_connected
from scaar.core.calls.breaker_ports import (
    BreakerAnswerer,
    BreakerGenerator,
    BreakerQueryBuilder,
    BreakerRetriever,
    BreakerScorer,
)
from scaar.core.observers import UNOBSERVED_BREAKERS, BreakerObserver, Dependency
from scaar.core.ports import Answerer, ContributionScorer, Generator, QueryBuilder, Retriever


@dataclass(frozen=True, slots=True)
class Breakers:
    """Places a breaker in front of a port; without ``limits``, returns the port unchanged.

    ``target`` names the dependency in messages, ``share_s`` is the timeout of the port for a call,
    in seconds, and ``connected`` returns whether a server of the dependency can be reached.
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
        """Return the generator behind its breaker."""
        breaker = self._breaker("generator", target, connected)
        return BreakerGenerator(generator, breaker, share_s) if breaker else generator

    def scorer(
        self,
        scorer: ContributionScorer,
        target: str,
        *,
        share_s: float = math.inf,
        connected: Connected = always_connected,
    ) -> ContributionScorer:
        """Return the scorer behind its breaker."""
        breaker = self._breaker("scorer", target, connected)
        return BreakerScorer(scorer, breaker, share_s) if breaker else scorer

    def query_builder(
        self,
        query_builder: QueryBuilder,
        target: str,
        *,
        share_s: float = math.inf,
        connected: Connected = always_connected,
    ) -> QueryBuilder:
        """Return the query builder behind its breaker."""
        breaker = self._breaker("query-builder", target, connected)
        return BreakerQueryBuilder(query_builder, breaker, share_s) if breaker else query_builder

    def retriever(
        self,
        retriever: Retriever,
        target: str,
        *,
        share_s: float = math.inf,
        connected: Connected = always_connected,
    ) -> Retriever:
        """Return the retriever behind its breaker."""
        breaker = self._breaker("retriever", target, connected)
        return BreakerRetriever(retriever, breaker, share_s) if breaker else retriever

    def answerer(
        self, answerer: Answerer, target: str, *, connected: Connected = always_connected
    ) -> Answerer:
        """Return the orchestrator behind its breaker."""
        breaker = self._breaker("orchestrator", target, connected)
        return BreakerAnswerer(answerer, breaker) if breaker else answerer

    def of_server(self, service: str, target: str) -> Breaker | None:
        """Return the breaker of a server behind an engine; None without limits."""
        return self._breaker(service, target, always_connected)

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


NO_BREAKERS = Breakers()
"""No breakers."""
