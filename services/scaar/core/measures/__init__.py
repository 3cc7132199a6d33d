"""Measures of an answer against the true ones, by name.

Scores are in [0, 1], those of ``crag`` in [-1, 1].
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from scaar.core.measures.accuracy import accuracy
from scaar.core.measures.crag import crag
from scaar.core.measures.exact_match import exact_match
from scaar.core.measures.f1 import f1
from scaar.core.measures.precision import precision
from scaar.core.measures.recall import recall
from scaar.core.measures.sub_exact_match import sub_exact_match

Measure = Callable[[str, Sequence[str]], float]

MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "exact_match": exact_match,
        "f1": f1,
        "precision": precision,
        "recall": recall,
        "accuracy": accuracy,
        "sub_exact_match": sub_exact_match,
        "crag": crag,
    }
)
