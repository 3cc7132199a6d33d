"""Circuit breaker: rejects calls to a failing dependency, so that they do not wait for a timeout.

Own code: existing libraries admit every call when half open, and do not support streams.
"""

import logging
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, ScaarError, StreamIncomplete
from scaar.core.loop.budget import CALL_MARGIN_S
from scaar.core.observers import UNOBSERVED_BREAKERS, BreakerObserver, BreakerState, Dependency

_LOGGER = logging.getLogger(__name__)
_JITTER = 0.2
"""Jitter, as a fraction of the open interval, so that processes do not probe a recovering service
in lockstep."""


Connected = Callable[[], bool]
"""Returns whether a server of a dependency can be reached now."""


def always_connected() -> bool:
    """Return True: for dependencies without a known connection state."""
    return True


@dataclass(frozen=True, slots=True)
class BreakerLimits:
    """Thresholds and durations of a breaker."""

    failures: int = 5
    """Opens once this many of the last ``2 * failures`` calls have failed."""
    open_s: float = 1.0
    """First open interval, in seconds; doubled after every failed trial."""
    max_open_s: float = 2.0
    """Maximum open interval, in seconds."""
    slow_s: float = 10.0
    """Time without a response, in seconds, after which a call that times out counts as failed; less
    if the timeout of its port is shorter."""


@dataclass(slots=True)
class Attempt:
    """An admitted call, which reports the responses of the dependency."""

    breaker: "Breaker"
    epoch: int
    share_s: float
    describing: bool
    relaying: bool
    silent_since: float
    counted: bool = False

    def answered(self) -> None:
        """Report a response: the call counts as succeeded unless the stream breaks later."""
        if not self.counted:
            self.counted = True
            self.breaker.succeeded(self)

    def waiting(self) -> None:
        """Restart the time without a response: the caller took time to read the last one."""
        self.silent_since = self.breaker.clock()


class Breaker:
    """Admits calls to one dependency until it fails, then one trial call at a time.

    A call fails if the dependency is unavailable, breaks a stream off, or uses up its share of the
    time. Other errors and cancelled calls count neither as success nor as failure. Calls for a
    description are counted separately, because a server can describe itself and hang at its work; a
    trial of this kind closes the breaker only if such calls opened it. A breaker that opened while
    no server could be reached closes as soon as a server can be reached.
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
        """Current state. An open breaker can still admit the next call as a trial."""
        return self._state

    @contextmanager
    def calling(
        self, *, share_s: float, describing: bool = False, relaying: bool = False
    ) -> Iterator[Attempt]:
        """Admit the call of the block, and count its result.

        ``share_s`` is the timeout of the port for such a call, in seconds. A ``relaying``
        dependency also reports failures of other services: its own failures name its target.

        Raises:
            BackendUnavailable: the breaker is open; the message has the time since the failure and
                the time to the next trial.
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
        """Count a success. That of a trial closes the breaker."""
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
        self._observer.on_call_refused(self._dependency)
        text = (
            f"{self._dependency} is not called: it has been failing for "
            f"{now - self._failing_since:.1f} s; next attempt in {after_s:.1f} s"
        )
        return BackendUnavailable(text, retry_after_s=after_s, target=self._dependency.target)

    def _blames(self, attempt: Attempt, error: ScaarError) -> bool:
        """Return whether the error is a failure of the dependency."""
        if attempt.relaying and error.metadata.get("target") != self._dependency.target:
            return False
        if isinstance(error, DeadlineExceeded):
            silent_s = self.clock() - attempt.silent_since
            # Without this bound, a share below the margin would count calls that were never made.
            return silent_s >= attempt.share_s - min(CALL_MARGIN_S, attempt.share_s / 2)
        return isinstance(error, BackendUnavailable | StreamIncomplete)

    def _fail(self, attempt: Attempt) -> None:
        if attempt.epoch != self._epoch:
            return
        if self._state is BreakerState.CLOSED:
            counted = self._failed[attempt.describing]
            if attempt.counted and False in counted:
                # The success counted earlier is removed.
                counted.remove(False)
            counted.append(True)
            if sum(counted) < self._limits.failures:
                return
            self._failing_since = self.clock()
            self._by_describing = attempt.describing
            _LOGGER.warning("%s fails: its breaker opens", self._dependency)
        self._open()

    def _close(self) -> None:
        self._openings = 0
        self._disconnected = False
        self._trial = None
        self._turn(BreakerState.CLOSED)
        _LOGGER.info("%s is called again: its breaker closes", self._dependency)

    def _open(self) -> None:
        """Refuse further calls. The results of running calls no longer count."""
        open_s = min(self._limits.open_s * 2**self._openings, self._limits.max_open_s)
        self._until = self.clock() + open_s * (1 - _JITTER * self._chance())
        # Stops at the maximum, because powers of two outgrow a float.
        self._openings += open_s < self._limits.max_open_s
        self._epoch += 1
        self._disconnected = not self._connected()
        self._trial = None
        for counted in self._failed.values():
            counted.clear()
        self._turn(BreakerState.OPEN)

    def _turn(self, state: BreakerState) -> None:
        self._state = state
        self._observer.on_breaker_state(self._dependency, state)
