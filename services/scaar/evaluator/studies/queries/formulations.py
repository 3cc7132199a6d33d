"""The query formulations that a run compares, each with a label."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.queries import check_settings
from scaar.core.types import QuerySettings

WITH_QUESTION = "question+"
"""The prefix of a formulation's name if the question is part of the query."""

OF_A_DRAFT = (
    "current_sentence",
    "last_sentence",
    "full_context",
    "content_words",
    "pfq",
)
"""The formulations that need neither tokens nor attention, except the question alone."""

NAMES = (
    "question",
    *map(str, OF_A_DRAFT),
    *(f"{WITH_QUESTION}{each}" for each in OF_A_DRAFT),
)
USUAL = (
    *("question", "current_sentence", "last_sentence", "question+current_sentence"),
    *("pfq", "question+pfq"),
)
ALPHAS = (25.0, 50.0, 75.0)

REFERENCES = ("question+current_sentence", "question")
"""The default references, in order of preference."""


@dataclass(frozen=True, slots=True)
class FormulationVariant:
    """A formulation with its settings; ``scorer`` is the control of its contributions."""

    label: str
    query: QuerySettings
    scorer: Control | None = None

    @property
    def scored(self) -> bool:
        """Whether the formulation uses contributions."""
        return self.query.formulation == "pfq"

    def by(self, scorer: Control | None) -> "FormulationVariant":
        """Return the same formulation with another scorer."""
        own = f",scorer={self.scorer}"
        label = self.label.removesuffix(own) if self.scorer else self.label
        return replace(self, label=f"{label},scorer={scorer}" if scorer else label, scorer=scorer)


def plan_formulations(
    names: Sequence[str], alphas: Sequence[float], scorers: Sequence[Control | None]
) -> tuple[FormulationVariant, ...]:
    """Return every formulation; PFQ at every alpha and with every scorer.

    Raises:
        InvalidRequest: a name is unknown or given twice, or a value is out of range.
    """
    wrong = [
        Violation(
            "--formulations",
            f"there is no {name!r} of a draft; known: {', '.join(NAMES)}",
        )
        for name in names
        if name not in NAMES
    ]
    if wrong:
        raise InvalidRequest(wrong)
    planned: list[FormulationVariant] = []
    for name in names:
        formulation = name.removeprefix(WITH_QUESTION)
        settings = QuerySettings(formulation, include_question=name.startswith(WITH_QUESTION))
        if formulation != "pfq":
            planned.append(FormulationVariant(name, settings))
            continue
        for alpha in alphas:
            at = replace(settings, alpha=alpha)
            if check_settings(at):
                text = f"must be over 0 and at most 100 (percent), not {alpha:g}"
                raise InvalidRequest.of("--alpha", text)
            pfq = FormulationVariant(f"{name}:alpha={alpha:g}", at)
            planned += [pfq.by(scorer) for scorer in scorers]
    labels = [each.label for each in planned]
    if twice := {each for each in labels if labels.count(each) > 1}:
        raise InvalidRequest.of("--formulations", f"must differ, but {min(twice)} is given twice")
    return tuple(planned)


def reference_of(variants: Sequence[FormulationVariant], name: str | None) -> str:
    """Return the label that the others are compared with.

    Raises:
        InvalidRequest: the label is unknown.
    """
    labels = [each.label for each in variants]
    if name is None:
        return next((each for each in REFERENCES if each in labels), labels[0])
    if name not in labels:
        text = f"there is no {name!r} in this run; its formulations: {', '.join(labels)}"
        raise InvalidRequest.of("--reference", text)
    return name
