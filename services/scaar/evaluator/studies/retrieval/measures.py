"""Measures of rankings, computed by ir_measures.

MacAvaney et al., "Streamlining Evaluation with ir-measures", ECIR 2022, with trec_eval's code
(pytrec_eval) for those that trec_eval has. Measures of ir_measures that start other programs are
not offered.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.evaluator.measures.libraries import needs
from scaar.evaluator.statistics import RESAMPLES
from scaar.evaluator.statistics.estimate import Estimate, estimate
from scaar.evaluator.studies.retrieval.rankings import Ranking
from scaar.evaluator.studies.retrieval.topics import Topic

if TYPE_CHECKING:
    from ir_measures.measures import Measure
    from ir_measures.providers import Provider

_PROVIDERS = ("pytrec_eval", "msmarco", "judged")
"""Parts of ir_measures that compute in this process."""


def parse_measures(names: Sequence[str]) -> "dict[str, tuple[Measure, Provider]]":
    """Return the measures of these names, such as ``nDCG@10``, each with what computes it.

    Raises:
        InvalidRequest: a name is not one of ir_measures, or occurs twice.
        CapabilityMissing: ir_measures is not installed.
    """
    with needs("ir_measures", extra="ir-measures"):
        from ir_measures import parse_measure, providers
    found: dict[str, tuple[Measure, Provider]] = {}
    for name in names:
        try:
            measure = parse_measure(name)
            measure.validate_params()
        except (NameError, ValueError, TypeError, AssertionError) as error:
            text = f"{name!r} is not a measure of ir_measures, such as nDCG@10"
            raise InvalidRequest.of("measures", text) from error
        computes = [
            provider
            for each in _PROVIDERS
            if (provider := providers.registry[each]).supports(measure)
        ]
        if not computes:
            text = f"{name} needs a program or a library beside ir_measures"
            raise InvalidRequest.of("measures", text)
        if name in found:
            raise InvalidRequest.of("measures", f"has {name} twice")
        found[name] = (measure, computes[0])
    return found


def measured(
    names: Sequence[str], topics: Sequence[Topic], rankings: Mapping[str, Ranking]
) -> dict[str, dict[str, float]]:
    """Return the values of each measure by topic; a topic without passages scores 0.

    Raises:
        InvalidRequest: a name is not one of ir_measures.
    """
    qrels = {topic.id: dict(topic.judged) for topic in topics}
    # Descending scores: trec_eval sorts by score, and equal scores by id.
    run = {
        topic: {passage: float(len(ranking) - at) for at, passage in enumerate(ranking)}
        for topic, ranking in rankings.items()
    }
    return {
        name: {
            each.query_id: float(each.value) for each in provider.iter_calc([measure], qrels, run)
        }
        for name, (measure, provider) in parse_measures(names).items()
    }


def mean(values: Sequence[float], *, seed: int = 0) -> Estimate:
    """Return the mean over topics with its 95% bootstrap interval over topics."""
    found = np.array(values, dtype=np.float64)
    chance = np.random.default_rng(seed)
    samples = found[chance.integers(0, len(found), size=(RESAMPLES, len(found)))].mean(axis=1)
    return estimate(np.append(found.mean(), samples))
