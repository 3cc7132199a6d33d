"""Evaluations from Python: run or request one, and read its results.

>>> from scaar.evaluation import evaluate
>>> results = evaluate("lab", ["no_retrieval", "scaar"], out="results", limit=20)
>>> results.frame().groupby("setting")["f1"].mean()
>>> results.compare("no_retrieval", "scaar")

``evaluate`` runs in this process (``out``), or requests the evaluation from a running evaluator
(``target``). :class:`Results` reads what ``scaar eval run`` wrote, too.
"""

from scaar.core.errors import InvalidRequest, NotFound, ScaarError
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluation.evaluate import evaluate
from scaar.evaluation.results import Difference, Results

__all__ = [
    "Difference",
    "InvalidRequest",
    "NotFound",
    "PolicyOverrides",
    "PolicyRequest",
    "Results",
    "ScaarError",
    "evaluate",
]
