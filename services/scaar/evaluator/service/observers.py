"""Hooks of telemetry into evaluations."""

from collections.abc import Callable
from dataclasses import dataclass

from scaar.core.observers import EvaluationObserver
from scaar.core.ports import Answerer


@dataclass(frozen=True, slots=True)
class EvaluationHooks:
    """An observer of evaluations, and a wrapper of the answerer; the defaults observe nothing."""

    observer: EvaluationObserver | None = None
    wrap: Callable[[Answerer], Answerer] = lambda answerer: answerer


NO_HOOKS = EvaluationHooks()
