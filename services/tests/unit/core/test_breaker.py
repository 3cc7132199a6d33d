import asyncio
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.calls.breaker import Attempt, Breaker, BreakerLimits
from scaar.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    Overloaded,
    ScaarError,
    StreamIncomplete,
)
from scaar.core.observers import BreakerObserver, BreakerState, Dependency

RETRIEVER = Dependency("retriever", "dns:///retriever:50055")
LIMITS = BreakerLimits(failures=3, open_s=1.0, max_open_s=5.0, slow_s=10.0)
GONE = BackendUnavailable("gone")
LATE = DeadlineExceeded("too late")
CLOSED, HALF_OPEN, OPEN = BreakerState.CLOSED, BreakerState.HALF_OPEN, BreakerState.OPEN


@dataclass
class Watched(BreakerObserver):
    states: list[BreakerState] = field(default_factory=list)
    refused: int = 0

    def on_breaker_state(self, dependency: Dependency, state: BreakerState) -> None:
        assert dependency == RETRIEVER
        self.states.append(state)

    def on_call_refused(self, dependency: Dependency) -> None:
        self.refused += 1


class Rig:
    """A breaker with a manual clock."""

    def __init__(self, limits: BreakerLimits = LIMITS, chance: float = 0.0) -> None:
        self.now = 100.0
        self.connected = True
        self.watched = Watched()
        self.breaker = Breaker(
            RETRIEVER,
            limits,
            observer=self.watched,
            clock=lambda: self.now,
            chance=lambda: chance,
            connected=lambda: self.connected,
        )

    def call(
        self,
        error: BaseException | None = None,
        *,
        takes_s: float = 0.0,
        share_s: float = 4.0,
        describing: bool = False,
        relaying: bool = False,
    ) -> None:
        """A call that ends with the error, if any, and is refused or made."""
        with self.breaker.calling(share_s=share_s, describing=describing, relaying=relaying):
            self.now += takes_s
            if error is not None:
                raise error

    def fail(self, times: int = 1, error: BaseException = GONE, **options: float) -> None:
        for _ in range(times):
            with pytest.raises(type(error)):
                self.call(error, **options)  # type: ignore[arg-type]

    def stream(self, error: ScaarError, *, reader_s: float = 0.0, silent_s: float = 0.0) -> None:
        """A stream that gives two signs, the second read after so long, and then fails."""
        with suppress(type(error)), self.breaker.calling(share_s=4.0) as stream:
            stream.answered()
            stream.answered()
            self.now += reader_s
            stream.waiting()
            self.now += silent_s
            raise error

    def refusal(self) -> BackendUnavailable:
        with pytest.raises(BackendUnavailable, match="is not called") as caught:
            self.call()
        return caught.value


def test_a_breaker_opens_after_its_failures_and_names_both_times() -> None:
    rig = Rig()
    rig.fail(3)
    rig.now += 0.4
    refused = rig.refusal()
    assert refused.message == (
        "retriever at dns:///retriever:50055 is not called: it has been failing for 0.4 s; "
        "next attempt in 0.6 s"
    )
    assert refused.retry_after_s == pytest.approx(0.6)
    assert refused.metadata == {"target": "dns:///retriever:50055"}
    assert rig.watched.states == [CLOSED, OPEN]
    assert rig.watched.refused == 1


def test_failures_between_successes_open_it_when_they_are_half_of_the_calls() -> None:
    rarely, often = Rig(), Rig()
    for _ in range(20):
        rarely.fail()
        rarely.call()
        rarely.call()
    assert rarely.breaker.state is CLOSED
    for _ in range(2):
        often.fail()
        often.call()
    often.fail()
    assert often.breaker.state is OPEN


def test_after_its_time_one_call_is_let_in_on_trial_and_closes_it() -> None:
    rig = Rig()
    rig.fail(3)
    rig.now += 1.0
    with rig.breaker.calling(share_s=4.0):
        assert rig.breaker.state is HALF_OPEN
        assert rig.refusal().retry_after_s == 1.0
    assert rig.breaker.state is CLOSED
    assert rig.watched.states == [CLOSED, OPEN, HALF_OPEN, CLOSED]
    rig.fail(2)
    rig.call()
    assert rig.breaker.state is CLOSED


def test_a_breaker_that_opened_without_a_connection_closes_with_one() -> None:
    rig = Rig()
    rig.connected = False
    rig.fail(3)
    rig.refusal()
    rig.connected = True
    rig.call()
    assert rig.watched.states == [CLOSED, OPEN, CLOSED]
    # What was counted before it opened is forgotten.
    rig.fail(2)
    rig.call()
    assert rig.breaker.state is CLOSED


def test_a_breaker_that_opened_at_a_connected_dependency_stays_open() -> None:
    rig = Rig()
    rig.fail(3)
    rig.connected = False
    rig.refusal()
    rig.connected = True
    rig.refusal()
    assert rig.watched.states == [CLOSED, OPEN]


def test_each_trial_that_fails_keeps_it_open_twice_as_long_up_to_the_longest() -> None:
    rig = Rig()
    rig.fail(3)
    for open_s in (1.0, 2.0, 4.0, 5.0, 5.0):
        assert rig.refusal().retry_after_s == pytest.approx(open_s)
        rig.now += open_s - 0.01
        rig.refusal()
        rig.now += 0.01
        rig.fail()
    rig.now += 5.0
    rig.call()
    rig.fail(3)
    assert rig.refusal().retry_after_s == pytest.approx(1.0)


def test_a_fifth_of_the_open_interval_is_jitter() -> None:
    rig = Rig(chance=0.5)
    rig.fail(3)
    assert rig.refusal().retry_after_s == pytest.approx(0.9)


def test_a_call_that_used_its_share_of_time_up_failed_and_one_with_less_says_nothing() -> None:
    for share_s, takes_s, state in (
        (4.0, 4.0, OPEN),
        (4.0, 3.0, CLOSED),
        (60.0, 10.0, OPEN),
        (60.0, 9.0, CLOSED),
        (4.0, 0.0, CLOSED),
        (0.04, 0.03, OPEN),
        (0.04, 0.0, CLOSED),
    ):
        rig = Rig()
        rig.fail(3, LATE, takes_s=takes_s, share_s=share_s)
        assert rig.breaker.state is state, (share_s, takes_s)


@pytest.mark.parametrize(
    "error",
    [
        InvalidRequest.of("query", "must not be empty"),
        Overloaded("no room"),
        NotFound("there is no index 'x'"),
        ScaarError("internal error"),
        asyncio.CancelledError(),
        GeneratorExit(),
        ValueError("a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_other_errors_and_callers_that_leave_never_open_it_and_free_the_trial(
    error: BaseException,
) -> None:
    rig = Rig()
    rig.fail(20, error, takes_s=60.0)
    assert rig.breaker.state is CLOSED
    rig.fail(3)
    rig.now += 1.0
    rig.fail(2, error)
    assert rig.breaker.state is HALF_OPEN
    rig.call()
    assert rig.breaker.state is CLOSED


def test_a_stream_succeeds_at_its_first_sign_and_that_is_taken_back_when_it_is_cut_off() -> None:
    rig = Rig()
    rig.fail(3)
    rig.now += 1.0
    with rig.breaker.calling(share_s=4.0) as stream:
        stream.answered()
        assert rig.breaker.state is CLOSED
        rig.call()
    cut = Rig()
    for _ in range(3):
        cut.stream(StreamIncomplete("cut off"))
    assert cut.breaker.state is OPEN


def test_a_stream_that_falls_silent_failed_and_one_whose_reader_was_slow_did_not() -> None:
    for reader_s, silent_s, state in ((0.0, 4.0, OPEN), (60.0, 1.0, CLOSED), (60.0, 4.0, OPEN)):
        rig = Rig()
        for _ in range(3):
            rig.stream(LATE, reader_s=reader_s, silent_s=silent_s)
        assert rig.breaker.state is state, (reader_s, silent_s)


def test_calls_running_when_a_breaker_opens_do_not_count() -> None:
    rig = Rig()
    early, late = rig.breaker.calling(share_s=4.0), rig.breaker.calling(share_s=4.0)
    early.__enter__(), late.__enter__()
    rig.fail(3)
    early.__exit__(None, None, None)
    assert rig.breaker.state is OPEN
    rig.now += 1.0
    rig.call()
    rig.fail(2)
    late.__exit__(type(GONE), GONE, None)
    assert rig.breaker.state is CLOSED
    rig.fail()
    assert rig.breaker.state is OPEN


def test_a_server_that_describes_itself_and_hangs_is_not_called() -> None:
    rig = Rig()
    for _ in range(3):
        rig.call(describing=True)
        rig.call(describing=True)
        rig.fail(1, LATE, takes_s=4.0)
    assert rig.breaker.state is OPEN
    rig.now += 1.0
    rig.call(describing=True)
    assert rig.breaker.state is HALF_OPEN
    rig.call()
    assert rig.breaker.state is CLOSED


def test_a_description_closes_what_descriptions_opened() -> None:
    rig = Rig()
    for _ in range(3):
        with pytest.raises(BackendUnavailable):
            rig.call(GONE, describing=True)
    rig.now += 1.0
    rig.call(describing=True)
    assert rig.breaker.state is CLOSED


def test_failures_of_other_services_do_not_count() -> None:
    rig = Rig()
    others = BackendUnavailable("the generator is gone", target="dns:///generator:50052")
    own = BackendUnavailable("gone", target=RETRIEVER.target)
    for error, state in ((others, CLOSED), (GONE, CLOSED), (own, OPEN)):
        for _ in range(3):
            with pytest.raises(BackendUnavailable):
                rig.call(error, relaying=True)
        assert rig.breaker.state is state


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.booleans()),
        st.tuples(st.just("pass"), st.floats(0.0, 6.0)),
        st.tuples(
            st.sampled_from(["answer", "end", "fail", "late", "leave", "refuse"]),
            st.integers(0, 5),
        ),
    ),
    max_size=60,
)
ENDS: dict[str, BaseException | None] = {
    "end": None,
    "fail": GONE,
    "late": LATE,
    "leave": asyncio.CancelledError(),
    "refuse": Overloaded("no room"),
}


@given(STEPS)
def test_an_open_breaker_admits_no_call_and_a_half_open_one_a_single_trial(
    steps: list[tuple[str, float]],
) -> None:
    rig = Rig()
    under_way: list[tuple[AbstractContextManager[Attempt], Attempt]] = []
    opened_at = rig.now
    on_trial = None
    for step, number in steps:
        before = rig.breaker.state
        if step == "pass":
            rig.now += number
        elif step == "begin":
            manager = rig.breaker.calling(share_s=4.0, describing=bool(number))
            try:
                entered = (manager, manager.__enter__())
            except BackendUnavailable as caught:
                refused: BackendUnavailable | None = caught
            else:
                refused = None
            if refused is not None:
                assert refused.retry_after_s is not None
                assert 0 < refused.retry_after_s <= LIMITS.max_open_s
                assert rig.breaker.state is not CLOSED
                assert rig.breaker.state is OPEN or on_trial is not None
            else:
                assert rig.breaker.state is not OPEN
                if before is OPEN:
                    assert rig.now >= opened_at + LIMITS.open_s
                if rig.breaker.state is HALF_OPEN:
                    assert on_trial is None
                    on_trial = entered
                under_way.append(entered)
        elif under_way:
            leaving = under_way[int(number) % len(under_way)]
            left, attempt = leaving
            if step == "answer":
                attempt.answered()
            else:
                under_way.remove(leaving)
                error = ENDS[step]
                kind = None if error is None else type(error)
                left.__exit__(kind, error, None)
                if on_trial is leaving:
                    on_trial = None
        if rig.breaker.state is OPEN and before is not OPEN:
            opened_at = rig.now
        if rig.breaker.state is not HALF_OPEN:
            on_trial = None


@given(st.lists(st.sampled_from(["end", "fail", "leave", "refuse"]), max_size=200))
def test_it_opens_exactly_when_half_of_the_calls_that_count_failed(ends: list[str]) -> None:
    rig = Rig()
    counted: list[bool] = []
    for end in ends:
        error = ENDS[end]
        if error is None:
            rig.call()
        else:
            rig.fail(1, error)
        if end in ("end", "fail"):
            counted.append(end == "fail")
        if sum(counted[-2 * LIMITS.failures :]) >= LIMITS.failures:
            assert rig.breaker.state is OPEN
            return
        assert rig.breaker.state is CLOSED


def test_by_default_a_service_that_was_away_for_long_is_tried_within_two_seconds() -> None:
    rig = Rig(BreakerLimits())
    for _ in range(BreakerLimits().failures):
        with pytest.raises(BackendUnavailable):
            rig.call(GONE)
    for _ in range(10):  # each trial fails as soon as it is admitted
        rig.now += 100
        with pytest.raises(BackendUnavailable):
            rig.call(GONE)
    assert rig.breaker.state is OPEN
    rig.now += 2
    rig.call()
    assert rig.breaker.state is CLOSED
