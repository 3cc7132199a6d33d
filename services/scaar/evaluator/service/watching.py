"""Who watches evaluations: what is counted of them, and what stands around their answers."""

from collections.abc import Callable
from dataclasses import dataclass

from scaar.core.observers import EvaluationObserver
from scaar.core.ports import Answerer


@dataclass(frozen=True, slots=True)
class EvaluationWatch:
    """An observer, and an answerer around the one that is asked; here nobody watches."""

    observer: EvaluationObserver | None = None
    watched: Callable[[Answerer], Answerer] = lambda answerer: answerer


UNWATCHED = EvaluationWatch()
