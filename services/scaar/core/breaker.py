"""A dependency that fails is not asked for a while, so that not every call costs its time-out.

Own code: the libraries there are let every call in on trial, and know nothing of streams.
"""

import logging
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scaar.core.budget import CALL_MARGIN_S
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, ScaarError, StreamIncomplete
from scaar.core.observers import UNOBSERVED_BREAKERS, BreakerObserver, BreakerState, Dependency

_LOGGER = logging.getLogger(__name__)
_LEFT_TO_CHANCE = 0.2
"""The share of the seconds open that is: processes that lost the same service try it by turns."""


Connected = Callable[[], bool]
"""Returns whether a server of a dependency can be reached now."""


def always_connected() -> bool:
    """For dependencies of which that is not known."""
    return True


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """When a breaker opens, and for how long."""

    failures: int = 5
    """It opens when so many of twice as many calls of late failed."""
    open_s: float = 1.0
    """How long it stays open at first; twice as long after every trial that fails."""
    max_open_s: float = 2.0
    """The longest that it stays open."""
    slow_s: float = 10.0
    """A call that runs out of time counts as failed where it got no sign for so long, or for all
    the time that its port has for it."""


@dataclass(slots=True)
class Attempt:
    """A call that was let in; it says when the dependency gave a sign."""

    breaker: "Breaker"
    epoch: int
    share_s: float
    describing: bool
    relaying: bool
    silent_since: float
    counted: bool = False

    def answered(self) -> None:
        """The dependency gave a sign: the call counts as succeeded, unless it is cut off later."""
        if not self.counted:
            self.counted = True
            self.breaker.succeeded(self)

    def waiting(self) -> None:
        """From now on the next sign is waited for: whoever reads a stream took their own time."""
        self.silent_since = self.breaker.clock()


class Breaker:
    """Lets calls to one dependency in, until it fails; then one at a time on trial.

    What says that it is dead or too slow counts as failed: that it is unavailable, that it cut a
    stream off, that it used its share of time up. A success counts for itself; other errors, and
    calls that were left, say nothing. Calls that only ask for a description are counted apart, for
    a server may say what it is and hang at its work; one of them on trial closes the breaker only
    if such calls opened it. A breaker that opened while no server could be reached closes as soon
    as one can be.
    """

    def __init__(
        self,
        dependency: Dependency,
        limits: BreakerLimits,
        *,
        observer: BreakerObserver = UNOBSERVED_BREAKERS,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] = random.random,
        connected: Connected = always_connected,
    ) -> None:
        """``connected`` returns whether a server of the dependency can be reached now."""
        self.clock = clock
        self._connected = connected
        self._dependency = dependency
        self._limits = limits
        self._observer = observer
        self._chance = chance
        self._failed = {kind: deque[bool](maxlen=2 * limits.failures) for kind in (False, True)}
        self._epoch = 0
        self._openings = 0
        self._failing_since = self._until = 0.0
        self._by_describing = False
        self._disconnected = False
        self._trial: Attempt | None = None
        self._turn(BreakerState.CLOSED)

    @property
    def state(self) -> BreakerState:
        """What it does with the next call, but that one that is open may let it in on trial."""
        return self._state

    @contextmanager
    def calling(
        self, *, share_s: float, describing: bool = False, relaying: bool = False
    ) -> Iterator[Attempt]:
        """A call in the block, by whose end it is counted.

        ``share_s`` is the time that the port gives such a call. A dependency that is ``relaying``
        tells of failures of others': its own are those that name its target.

        Raises:
            BackendUnavailable: the dependency is not asked now; it says since when, and until when.
        """
        attempt = self._let_in(min(share_s, self._limits.slow_s), describing, relaying)
        try:
            yield attempt
            attempt.answered()
        except ScaarError as error:
            if self._blames(attempt, error):
                self._fail(attempt)
            raise
        finally:
            if self._trial is attempt:
                self._trial = None

    def succeeded(self, attempt: Attempt) -> None:
        """Counts a success; a trial's closes the breaker."""
        if attempt.epoch != self._epoch:
            return
        if self._state is not BreakerState.CLOSED:
            if attempt.describing and not self._by_describing:
                return
            self._close()
        self._failed[attempt.describing].append(False)

    def _let_in(self, share_s: float, describing: bool, relaying: bool) -> Attempt:
        now = self.clock()
        if self._disconnected and self._connected():
            self._close()
        if self._state is BreakerState.OPEN and now >= self._until:
            self._turn(BreakerState.HALF_OPEN)
        if self._state is BreakerState.OPEN:
            raise self._refusal(now, self._until - now)
        attempt = Attempt(self, self._epoch, share_s, describing, relaying, now)
        if self._state is BreakerState.HALF_OPEN:
            if self._trial is not None:
                raise self._refusal(now, self._limits.open_s)
            self._trial = attempt
        return attempt

    def _refusal(self, now: float, after_s: float) -> BackendUnavailable:
        self._observer.call_refused(self._dependency)
        text = (
            f"{self._dependency} is not asked: it has failed for {now - self._failing_since:.1f} s,"
            f" and is tried again in {after_s:.1f} s"
        )
        return BackendUnavailable(text, retry_after_s=after_s, target=self._dependency.target)

    def _blames(self, attempt: Attempt, error: ScaarError) -> bool:
        """Whether the error says that the dependency is dead or too slow."""
        if attempt.relaying and error.metadata.get("target") != self._dependency.target:
            return False
        if isinstance(error, DeadlineExceeded):
            silent_s = self.clock() - attempt.silent_since
            # A share that is all margin would blame calls that were never made.
            return silent_s >= attempt.share_s - min(CALL_MARGIN_S, attempt.share_s / 2)
        return isinstance(error, BackendUnavailable | StreamIncomplete)

    def _fail(self, attempt: Attempt) -> None:
        if attempt.epoch != self._epoch:
            return
        if self._state is BreakerState.CLOSED:
            counted = self._failed[attempt.describing]
            if attempt.counted and False in counted:
                # Its success is taken back.
                counted.remove(False)
            counted.append(True)
            if sum(counted) < self._limits.failures:
                return
            self._failing_since = self.clock()
            self._by_describing = attempt.describing
            _LOGGER.warning("%s fails and is not asked for a while", self._dependency)
        self._open()

    def _close(self) -> None:
        self._openings = 0
        self._disconnected = False
        self._trial = None
        self._turn(BreakerState.CLOSED)
        _LOGGER.info("%s is asked again", self._dependency)

    def _open(self) -> None:
        """Refuses calls from now on; those under way count no more."""
        open_s = min(self._limits.open_s * 2**self._openings, self._limits.max_open_s)
        self._until = self.clock() + open_s * (1 - _LEFT_TO_CHANCE * self._chance())
        # No further than the longest needs: powers of two outgrow a float.
        self._openings += open_s < self._limits.max_open_s
        self._epoch += 1
        self._disconnected = not self._connected()
        self._trial = None
        for counted in self._failed.values():
            counted.clear()
        self._turn(BreakerState.OPEN)

    def _turn(self, state: BreakerState) -> None:
        self._state = state
        self._observer.breaker_turned(self._dependency, state)
