"""Evaluations by simulation: what a policy gains by retrieving is known, its scores are drawn."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import (
    BudgetLimits,
    JudgedWord,
    LogprobKind,
    ModelDescription,
    PolicyOverrides,
    PolicyRequest,
    Provenance,
    Usage,
)
from scaar.evaluator.planning.settings import label_of
from scaar.evaluator.records import Decision, Failure, Prediction, Question, Score, Setting
from scaar.evaluator.results import DatasetOrigin, Evaluation
from scaar.evaluator.statistics.table import ScoreTable, TableBuilder
from scaar.evaluator.statistics.variants import variant_name

THETAS = (0.2, 0.4, 0.6, 0.8)
MODEL = ModelDescription("lab-lm", "3f2a", "onnx", LogprobKind.RAW, frozenset(), 512, "lab")
NOTHING_SPENT = Usage(0, 0, 0, 0, 0.0)


def setting(name: str, **overrides: object) -> Setting:
    """A setting under the label that it has in an evaluation."""
    request = PolicyRequest(name, PolicyOverrides(**overrides))  # type: ignore[arg-type]
    return Setting(label_of(request), request)


SETTINGS = (
    setting("no_retrieval"),
    setting("single_round"),
    setting("fixed_sentence"),
    *(setting("flare", theta=theta) for theta in THETAS),
    *(setting("scaar", theta=theta, alpha=alpha) for theta in THETAS for alpha in (50.0, 75.0)),
)
GRID = tuple(
    setting("scaar", theta=theta, trigger=trigger, query=query)
    for trigger in ("flare", "exp_raw", "surprisal")
    for query in ("pfq", "current_sentence", "question")
    for theta in (0.4, 0.8)
)
"""Three triggers with three queries, at two thetas."""


def draw_questions(count: int, *, seed: int = 0) -> tuple[Question, ...]:
    """Questions about a quarter as many entities, labelled by kind and popularity."""
    chance = Random(f"questions {seed}")
    return tuple(
        Question(
            id=f"q{number:05d}",
            question="Who is it?",
            answers=("Nobody",),
            entity=f"film {chance.randrange(max(1, count // 4))}",
            labels=(
                ("kind", chance.choice(("one_hop", "two_hop"))),
                ("popularity", chance.choice(("head", "tail"))),
            ),
        )
        for number in range(count)
    )


def draw_scores(
    questions: Sequence[Question], settings: Sequence[Setting], *, seed: int = 0
) -> Iterator[Score]:
    """A score of every question under every setting; entities differ in how hard they are."""
    for each in settings:
        for question in questions:
            ease = Random(f"{seed} {question.entity}").random()
            chance = Random(f"{seed} {question.id} {variant_name(each.policy)}")
            spent = _retrievals(each.policy, chance)
            f1 = 1.0 if chance.random() < 0.5 * ease + 0.22 * spent + _bonus(each.policy) else 0.0
            if not f1 and chance.random() < 0.3:
                f1 = 0.5
            usage = Usage(spent, 1 + spent, 30 + 8 * spent, 60 + 50 * spent, 12.0 + 9 * spent)
            values = {"exact_match": float(f1 == 1.0), "f1": f1}
            yield Score(each.label, question.id, values, usage)


def draw_predictions(
    questions: Sequence[Question], settings: Sequence[Setting], *, seed: int = 0
) -> Iterator[Prediction]:
    """Predictions with judged words, of which some are capped; every 50th has failed."""
    for each in settings:
        for number, question in enumerate(questions):
            chance = Random(f"words {seed} {question.id} {each.label}")
            if number % 50 == 49:
                failure = Failure("DEADLINE_EXCEEDED", "the answer's time of 60 s was used up")
                yield Prediction(each.label, question.id, "", "", NOTHING_SPENT, failure=failure)
                continue
            words = tuple(
                JudgedWord(f"w{i}", 3 * i, 3 * i + 2, 0.9, 0.8, False, 0.1, chance.random() < 0.2)
                for i in range(6 if each.policy.name == "scaar" else 0)
            )
            decisions = (Decision("Nobody.", words=words),)
            yield Prediction(
                each.label, question.id, "Nobody", "Nobody.", NOTHING_SPENT, decisions=decisions
            )


def evaluation_of(questions: Sequence[Question], settings: Sequence[Setting]) -> Evaluation:
    """An evaluation of these questions and settings by the lab's models."""
    made = {
        each.label: Provenance(
            *("", "lab-lm", "3f2a", "onnx", "lab-cross-encoder", "9c1d"),
            *("lab", "f0e1d2c3", "lab", effective_policy(each.policy, MODEL)),
        )
        for each in settings
    }
    origin = DatasetOrigin("lab", "", seed=0, questions=len(questions), checksum="ab" * 32)
    return Evaluation(
        "0.1.0", "2026-05-01T12:00:00Z", origin, tuple(settings), made, BudgetLimits(timeout_s=60.0)
    )


def table_of(
    questions: Sequence[Question],
    settings: Sequence[Setting],
    scores: Iterable[Score],
    predictions: Iterable[Prediction] = (),
) -> ScoreTable:
    """The table of some scores and predictions."""
    builder = TableBuilder(questions, settings)
    for score in scores:
        builder.add_score(score)
    for prediction in predictions:
        builder.add_prediction(prediction)
    return builder.build()


@dataclass(frozen=True, slots=True)
class Row:
    """A score by hand: one measure and the retrievals."""

    f1: float
    retrievals: int = 0


def table_by_hand(entities: Sequence[str], *rows: Sequence[Row | float]) -> ScoreTable:
    """A table of one question an entity named, and a setting a row."""
    questions = [Question(f"q{n}", "Who?", ("A",), name) for n, name in enumerate(entities)]
    settings = [Setting(f"s{n}", PolicyRequest("scaar")) for n in range(len(rows))]
    scores = []
    for each, row in zip(settings, rows, strict=True):
        for question, given in zip(questions, row, strict=True):
            scored = given if isinstance(given, Row) else Row(given)
            usage = replace(NOTHING_SPENT, retrievals=scored.retrievals)
            scores.append(Score(each.label, question.id, {"f1": scored.f1}, usage))
    return table_of(questions, settings, scores)


def _retrievals(policy: PolicyRequest, chance: Random) -> int:
    match policy.name:
        case "no_retrieval":
            return 0
        case "single_round":
            return 1
        case "fixed_sentence":
            return 2
        case _:
            theta = policy.overrides.theta or 0.8
            return sum(chance.random() < theta for _ in range(2))


def _bonus(policy: PolicyRequest) -> float:
    """Return the advantage of a policy over one without settings of its own."""
    bonus = {"scaar": 0.06, "flare": 0.03}.get(policy.name, 0.0)
    bonus += 0.03 * (policy.overrides.trigger == "surprisal")
    bonus -= 0.04 * (policy.overrides.query == "current_sentence")
    return bonus + (0.02 if policy.overrides.alpha == 75.0 else 0.0)
