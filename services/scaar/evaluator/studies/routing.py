"""The fit of Adaptive-RAG's router (Jeong et al., NAACL 2024) to the rows of evaluations.

A question's silver label is the simplest policy that answers it correctly (section 3.2). A question
that none answers takes the bias of its data set: the most complex policy for multi-hop data sets,
else the simplest that retrieves. The router is fitted on the development split and measured on the
test split, which has other entities, with the stored answer of the policy that it chooses, as in
the authors' code.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scaar.core.errors import InvalidRequest
from scaar.core.gates.adaptive_rag import AdaptiveRag, Sufficiency, question_features
from scaar.core.plurals import counted
from scaar.core.policies.no_retrieval import NO_RETRIEVAL
from scaar.evaluator.records import Question, Score
from scaar.evaluator.results import Results
from scaar.evaluator.scoring.scores import scores_of
from scaar.evaluator.splits import Split, split_of
from scaar.evaluator.statistics.regression import fit_logistic, significant

MIN_QUESTIONS = 5
"""The minimum number of development questions with a word that has a weight."""
PENALTY = 30.0
"""The penalty of the weights; chosen on development worlds."""
MULTI_HOP = frozenset(
    {"2wikimultihopqa", "bamboogle", "hotpotqa", "iirc", "lab", "musique", "strategyqa"}
)
"""The data sets whose questions mostly need several passages."""
ROUTER, LABELS = "adaptive_rag", "silver labels"
_CORRECT = 1.0


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the score of each policy, and its silver label.

    ``answered`` is false for a question that no policy answers; its label is a bias.
    """

    question: Question
    scores: Mapping[str, Score]
    label: str
    answered: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The means of a choice of policies on the test split, and the shares of its choices."""

    chooser: str
    quality: float
    retrievals: float
    chosen: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FittedRouter:
    """A router, and what it, each policy and the silver labels reach on the test split.

    ``unanswered`` counts the questions whose label is a bias, ``accuracy`` is the share of the test
    labels that the router predicts.
    """

    router: AdaptiveRag
    development: int
    test: int
    unanswered: int
    accuracy: float
    outcomes: tuple[Outcome, ...]


def silver_examples(
    results: Results, policies: Sequence[str], *, measure: str, bias: str | None = None
) -> Iterator[Example]:
    """Yield every question of an evaluation with its silver label.

    ``policies`` are ordered from the simplest. ``bias`` is the label of questions that none
    answers; None is the bias of their data set.

    Raises:
        InvalidRequest: the evaluation lacks a policy, an answer or the measure.
    """
    labels = [each.label for each in results.evaluation.settings]
    for name in policies:
        if name not in labels:
            text = f"{name} is not among the evaluated settings: {', '.join(labels)}"
            raise InvalidRequest.of("policies", text)
    if results.missing:
        text = f"lacks {counted(results.missing, 'prediction')}: finish it first"
        raise InvalidRequest.of("DIR", text)
    scores: dict[str, dict[str, Score]] = {}
    for score in scores_of(results, measure):
        scores.setdefault(score.question_id, {})[score.setting] = score
    bias = bias or bias_of(results.evaluation.dataset.name, policies)
    for question in results.questions:
        found = {name: scores[question.id][name] for name in policies}
        right = [name for name, each in found.items() if each.values[measure] >= _CORRECT]
        yield Example(question, found, right[0] if right else bias, bool(right))


def bias_of(dataset: str, policies: Sequence[str]) -> str:
    """Return the label of a data set's questions that no policy answers."""
    if dataset in MULTI_HOP:
        return policies[-1]
    return next(each for each in policies if each != NO_RETRIEVAL.name)


def model_of(results: Sequence[Results]) -> str:
    """Return the language model of the answers.

    Raises:
        InvalidRequest: the evaluations have several.
    """
    every = (made for each in results for made in each.evaluation.provenance.values())
    models = dict.fromkeys(made.model for made in every)
    if len(models) > 1:
        text = f"the evaluations are of several language models: {', '.join(models)}"
        raise InvalidRequest.of("DIR", text)
    return next(iter(models))


def fit_router(
    examples: Sequence[Example], policies: Sequence[str], *, model: str, measure: str, seed: int
) -> FittedRouter:
    """Fit a router on the development split, and measure it on the test split.

    Raises:
        InvalidRequest: a split has no question, or no development question has a policy's label.
    """
    splits = [split_of(each.question.entity, seed=seed) for each in examples]
    learning, testing = (
        [each for each, found in zip(examples, splits, strict=True) if found is split]
        for split in (Split.DEVELOPMENT, Split.TEST)
    )
    labels = Counter(each.label for each in learning)
    for name in policies:
        if not labels[name] or not testing:
            counted = f"{len(learning)} development questions, {len(testing)} test questions"
            text = f"none of the development questions is labelled {name}"
            raise InvalidRequest.of("DIR", f"{text} ({counted}): evaluate more questions")
    router = AdaptiveRag(model, "", tuple(policies), _sufficiencies(learning, policies))
    chosen = [router.choice(router.shares(each.question.question)) for each in testing]
    truths = [each.label for each in testing]
    return FittedRouter(
        router=router,
        development=len(learning),
        test=len(testing),
        unanswered=sum(not each.answered for each in examples),
        accuracy=float(np.mean([a == b for a, b in zip(chosen, truths, strict=True)])),
        outcomes=(
            *(_outcome(name, testing, [name] * len(testing), measure) for name in policies),
            _outcome(ROUTER, testing, chosen, measure),
            _outcome(LABELS, testing, truths, measure),
        ),
    )


def describe_fit(
    results: Sequence[Results], fitted: FittedRouter, *, measure: str, unanswered: str | None
) -> Mapping[str, object]:
    """Return the provenance of a router for its file."""
    origins = [each.evaluation.dataset for each in results]
    return {
        "data sets": [
            {"name": each.name, "questions": each.questions, "checksum": each.checksum}
            for each in origins
        ],
        "measure": measure,
        "unanswered": unanswered or "bias of the data set",
        "development": fitted.development,
        "test": fitted.test,
        "accuracy on test": fitted.accuracy,
    }


def _sufficiencies(examples: Sequence[Example], policies: Sequence[str]) -> tuple[Sufficiency, ...]:
    features = [question_features(each.question.question) for each in examples]
    counted = Counter(name for each in features for name in each)
    names = sorted(name for name, count in counted.items() if count >= MIN_QUESTIONS)
    matrix = np.array([[each.get(name, 0.0) for name in names] for each in features])
    ranks = np.array([policies.index(each.label) for each in examples])
    found = []
    for rank in range(len(policies) - 1):
        left = ranks >= rank
        fitted = fit_logistic(matrix[left], (ranks[left] == rank) * 1.0, penalty=PENALTY)
        bias, weights = fitted.unscaled()
        given = {name: significant(each) for name, each in zip(names, weights, strict=True) if each}
        found.append(Sufficiency(significant(bias), given))
    return tuple(found)


def _outcome(
    chooser: str, examples: Sequence[Example], chosen: Sequence[str], measure: str
) -> Outcome:
    scores = [each.scores[policy] for each, policy in zip(examples, chosen, strict=True)]
    return Outcome(
        chooser,
        quality=float(np.mean([each.values[measure] for each in scores])),
        retrievals=float(np.mean([each.usage.retrievals for each in scores])),
        chosen={name: count / len(chosen) for name, count in Counter(chosen).items()},
    )
