"""The fit of the probe of hidden states: layer and penalty by cross-validation over questions.

An outer fold is judged by a probe whose layer and penalty are chosen by an inner cross-validation
within the other folds. Questions about one entity are in one fold. Scores count by their ranks in
their fold, since each fold has a probe of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scaar.core.gates.probe import THRESHOLD, LinearProbe, ProbeGate
from scaar.evaluator.statistics.detection import Truths, auroc, entity_draws, estimated, ranks
from scaar.evaluator.statistics.estimate import Estimate
from scaar.evaluator.statistics.regression import LogisticFit, fit_logistic, significant
from scaar.evaluator.statistics.table import Floats
from scaar.evaluator.studies.gates.closed_book import LabelledQuestions
from scaar.evaluator.studies.tuning.folds import FOLDS

PENALTIES = (1_000.0, 300.0, 100.0, 30.0, 10.0)
"""Candidates of the ridge penalty; of equally good ones the first is chosen."""
INNER_FOLDS = 3
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class FittedProbe:
    """A gate, its penalty, and the AUROC of wrong answers out of fold.

    ``layers`` has the AUROC of each layer with its best penalty, by which the layer was chosen.
    """

    gate: ProbeGate
    penalty: float
    auroc: Estimate
    layers: Mapping[int, float]


def default_layers(count: int) -> tuple[int, ...]:
    """Return the layers at a third, half and two thirds of the depth, without repetitions.

    Probing-RAG reads states from a third of the depth on.
    """
    chosen = (round(count / 3), round(count / 2), round(2 * count / 3))
    return tuple(dict.fromkeys(max(1, each) for each in chosen))


def fit_probe(
    labelled: LabelledQuestions, states: Mapping[int, Floats], *, tokens: int, seed: int = 0
) -> FittedProbe:
    """Fit a probe to the mean hidden states of each layer, questions by width."""
    wrong = labelled.truths
    outer, inner = labelled.folds(), labelled.folds("inner ", INNER_FOLDS)
    judged = np.zeros(len(wrong))
    for fold in range(FOLDS):
        test = outer == fold
        found = _scores(
            {layer: x[~test] for layer, x in states.items()}, wrong[~test], inner[~test]
        )
        layer, penalty = max(found, key=lambda each: found[each])
        fit = _fit(states[layer][~test], wrong[~test], penalty)
        judged[test] = ranks(fit.logits(states[layer][test]))
    found = _scores(states, wrong, outer)
    layer, penalty = max(found, key=lambda each: found[each])
    fit = _fit(states[layer], wrong, penalty)
    samples = entity_draws([each.entity for each in labelled.questions], wrong, seed=seed)
    return FittedProbe(
        ProbeGate("", labelled.model, layer, _probe(fit), THRESHOLD, tokens),
        penalty,
        estimated(auroc, judged, wrong, samples),
        {each: max(value for (one, _), value in found.items() if one == each) for each in states},
    )


def _scores(
    states: Mapping[int, Floats], wrong: Truths, folds: Floats
) -> dict[tuple[int, float], float]:
    """Return the AUROC out of fold of each layer and penalty, in the order of their choice."""
    found = {}
    for layer, features in states.items():
        for penalty in PENALTIES:
            judged = np.zeros(len(wrong))
            for fold in np.unique(folds):
                test = folds == fold
                fit = _fit(features[~test], wrong[~test], penalty)
                judged[test] = ranks(fit.logits(features[test]))
            found[layer, penalty] = auroc(judged, wrong)
    return found


def _fit(features: Floats, wrong: Truths, penalty: float) -> LogisticFit:
    return fit_logistic(features, wrong.astype(np.float64), penalty=penalty)


def _probe(fit: LogisticFit) -> LinearProbe:
    """Return the probe of a fit."""
    means, scales, coefficients = (
        tuple(map(significant, values)) for values in (fit.means, fit.scales, fit.coefficients)
    )
    return LinearProbe(means, scales, coefficients, round(fit.intercept, _DIGITS))
