"""A policy artefact for tests."""

from scaar.core.policies.artefact_json import with_digest
from scaar.core.types import (
    DevelopmentFigures,
    ExpectedCost,
    Interval,
    LabelKind,
    LearnedTrigger,
    PolicyArtefact,
    PolicyOverrides,
    TuningConditions,
)

LEARNED = LearnedTrigger(
    signal_names=("surprisal_sum", "entropy_max"),
    means=(10.0, 4.0),
    scales=(20.0, 3.0),
    coefficients=(0.8, 0.3),
    intercept=-0.5,
    label="wrong",
)
"""Parameters of the trigger ``learned``."""
SETTINGS = PolicyOverrides(theta=0.42, top_k=2)
TUNED_ON = TuningConditions("lab-lm")
EXPECTED = ExpectedCost(searches_per_answer=1.4, trigger_rate=0.25)

LEARNED = LearnedTrigger(("surprisal_max",), (0.0,), (1.0,), (4.0,), -2.0, "wrong")
"""The parameters of a learned trigger: P(wrong) is above 0.5 from a surprisal of 0.5 on."""


def artefact_of(
    name: str = "tuned-1.4",
    *,
    policy: str = "flare",
    settings: PolicyOverrides = SETTINGS,
    tuned_on: TuningConditions = TUNED_ON,
    expected: ExpectedCost = EXPECTED,
    learned: LearnedTrigger | None = None,
) -> PolicyArtefact:
    """Return an artefact of these parts with its digest."""
    return with_digest(
        PolicyArtefact(
            name=name,
            policy=policy,
            settings=settings,
            tuned_on=tuned_on,
            label_kind=LabelKind.EXACT,
            development=DevelopmentFigures(
                questions=400,
                candidates=24,
                measure="f1",
                quality=Interval(0.94, 0.92, 0.96),
                optimism=0.004,
            ),
            expected=expected,
            learned=learned,
        )
    )
