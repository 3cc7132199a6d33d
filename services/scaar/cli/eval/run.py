"""``scaar eval run``: evaluate settings on questions, into a folder that can be resumed."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from scaar.cli.eval.progress import EvaluationProgress
from scaar.core.errors import InvalidRequest, ScaarError
from scaar.evaluation.local import EvaluationOptions, check_options, evaluate_locally
from scaar.evaluator.results import Results


def evaluate(options: EvaluationOptions) -> Results:
    """Evaluate what has no prediction yet, and return all results.

    Raises:
        InvalidRequest: an option is invalid; no model was called and nothing was written.
    """
    check_options(options)
    progress = EvaluationProgress(Console(stderr=True, highlight=False))
    with resumable(progress, options.out):
        return asyncio.run(evaluate_locally(options, progress))


@contextmanager
def resumable(progress: EvaluationProgress, out: Path) -> Iterator[None]:
    """Explain how to resume when an error or Ctrl-C ends the block."""
    try:
        yield
    except InvalidRequest:
        raise
    except (KeyboardInterrupt, ScaarError):
        if progress.total:
            stored = f"{progress.done} of {progress.total} {progress.what}"
            progress.say(f"{progress.name}: stopped; {out} has {stored}")
            progress.say("run the same command again to resume")
        raise
