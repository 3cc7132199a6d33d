import io
from pathlib import Path

import pytest
from rich.console import Console

from scaar.cli.eval.progress import LINE_EVERY_S, EvaluationProgress
from scaar.cli.eval.run import resumable
from scaar.core.errors import BackendUnavailable, CapabilityMissing, NotFound, ScaarError
from scaar.testing.evaluations import failed, prediction


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def shown(*, terminal: bool, before: int = 0, every_s: float = 2.0) -> str:
    """The progress of 20 predictions, the first of which fails."""
    out, clock = io.StringIO(), Clock()
    console = Console(file=out, force_terminal=terminal, width=80, color_system=None)
    progress = EvaluationProgress(console, clock)
    with progress.watch(20, before) as on_made:
        for number in range(before, 20):
            clock.now += every_s
            on_made(failed("flare", "q1") if number == before else prediction("flare", "q1"))
    assert (progress.done, progress.total, progress.failed) == (20, 20, 1)
    return out.getvalue()


def test_a_pipe_gets_a_line_every_few_seconds_with_rate_and_remaining_time() -> None:
    lines = shown(terminal=False).splitlines()
    assert len(lines) == 20 * 2.0 / LINE_EVERY_S
    assert lines[0] == "evaluating: 5 of 20, 0.5/s, 1 failed, about 30 s remaining"
    assert lines[-1] == "evaluating: 20 of 20, 0.5/s, 1 failed, about 0 s remaining"


def test_a_pipe_gets_no_line_of_a_short_run() -> None:
    assert shown(terminal=False, every_s=0.001) == ""


def test_a_resumed_run_reports_existing_predictions() -> None:
    lines = shown(terminal=False, before=5).splitlines()
    assert lines[0] == "evaluating: 5 of 20 predictions exist, resuming"
    assert lines[1] == "evaluating: 10 of 20, 0.5/s, 1 failed, about 20 s remaining"


def test_a_terminal_gets_a_bar_with_the_rate() -> None:
    out = shown(terminal=True)
    assert "evaluating" in out
    assert "20/20" in out
    assert "0.5/s, 1 failed" in out


@pytest.mark.parametrize(
    ("error", "helps"),
    [
        (KeyboardInterrupt(), True),
        (BackendUnavailable("dns:///lm:50052 does not answer"), True),
        (ScaarError("the disk is full"), True),
        (NotFound("there is no index 'lab'"), False),
        (CapabilityMissing("the model has no log-probabilities"), False),
    ],
)
def test_a_command_is_to_be_repeated_only_where_that_can_help(
    error: BaseException, helps: bool
) -> None:
    out = io.StringIO()
    progress = EvaluationProgress(Console(file=out, width=80))
    with pytest.raises(type(error)), resumable(progress, Path("out")), progress.watch(20, 5):
        raise error
    assert "evaluating: stopped; out has 5 of 20 predictions\n" in out.getvalue()
    assert ("run the same command again to resume" in out.getvalue()) == helps
