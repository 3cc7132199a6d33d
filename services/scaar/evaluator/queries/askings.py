"""The query formulations that a run compares, each under the label that its results go by."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.queries import check_settings
from scaar.core.types import Formulation, QuerySettings

WITH_QUESTION = "question+"
"""What a formulation's name begins with where the question is a part of the query."""

OF_A_DRAFT = (
    Formulation.CURRENT_SENTENCE,
    Formulation.LAST_SENTENCE,
    Formulation.FULL_CONTEXT,
    Formulation.CONTENT_WORDS,
    Formulation.PFQ,
)
"""Those that need neither tokens nor attention, beside the question alone."""

NAMES = (
    str(Formulation.QUESTION),
    *map(str, OF_A_DRAFT),
    *(f"{WITH_QUESTION}{each}" for each in OF_A_DRAFT),
)
USUAL = (
    *("question", "current_sentence", "last_sentence", "question+current_sentence"),
    *("pfq", "question+pfq"),
)
ALPHAS = (25.0, 50.0, 75.0)

REFERENCES = ("question+current_sentence", "question")
"""Whom the others are held against where nobody says otherwise, if it is there."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A formulation with its settings; ``scorer`` is the control whose contributions it goes by."""

    label: str
    query: QuerySettings
    scorer: Control | None = None

    @property
    def scored(self) -> bool:
        """Whether it goes by contributions."""
        return self.query.formulation is Formulation.PFQ

    def by(self, scorer: Control | None) -> "Asking":
        """The same by another scorer."""
        own = f",scorer={self.scorer}"
        label = self.label.removesuffix(own) if self.scorer else self.label
        return replace(self, label=f"{label},scorer={scorer}" if scorer else label, scorer=scorer)


def plan_askings(
    names: Sequence[str], alphas: Sequence[float], scorers: Sequence[Control | None]
) -> tuple[Asking, ...]:
    """Every formulation, PFQ at every alpha and by every scorer.

    Raises:
        InvalidRequest: a name that is none, a value out of range, or one that is there twice.
    """
    wrong = [
        Violation("--formulations", f"there is no {name!r} of a draft; known: {', '.join(NAMES)}")
        for name in names
        if name not in NAMES
    ]
    if wrong:
        raise InvalidRequest(wrong)
    planned: list[Asking] = []
    for name in names:
        formulation = Formulation(name.removeprefix(WITH_QUESTION))
        settings = QuerySettings(formulation, include_question=name.startswith(WITH_QUESTION))
        if formulation is not Formulation.PFQ:
            planned.append(Asking(name, settings))
            continue
        for alpha in alphas:
            at = replace(settings, alpha=alpha)
            if check_settings(at):
                text = f"must be over 0 and at most 100 (percent), not {alpha:g}"
                raise InvalidRequest.of("--alpha", text)
            pfq = Asking(f"{name}:alpha={alpha:g}", at)
            planned += [pfq.by(scorer) for scorer in scorers]
    labels = [each.label for each in planned]
    if twice := {each for each in labels if labels.count(each) > 1}:
        raise InvalidRequest.of("--formulations", f"must differ; twice there: {min(twice)}")
    return tuple(planned)


def reference_of(askings: Sequence[Asking], wanted: str | None) -> str:
    """The label that the others are held against.

    Raises:
        InvalidRequest: there is none of that name.
    """
    labels = [each.label for each in askings]
    if wanted is None:
        return next((each for each in REFERENCES if each in labels), labels[0])
    if wanted not in labels:
        text = f"there is no {wanted!r} in this run; its formulations: {', '.join(labels)}"
        raise InvalidRequest.of("--reference", text)
    return wanted
