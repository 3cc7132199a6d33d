"""The query formulations that a run compares, each with a label."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.queries import FORMULATIONS, check_settings
from scaar.core.types import EvidenceKind, QuerySettings

WITH_QUESTION = "question+"
"""The prefix of a formulation's name if the question is part of the query."""

OF_A_DRAFT = (
    "current_sentence",
    "last_sentence",
    "full_context",
    "content_words",
    "span_masked",
    "uncovered_question",
    "pfq",
    "fused",
    "bridged",
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
MAX_EXTRA = 50

REFERENCES = ("question+current_sentence", "question")
"""The default references, in order of preference."""


class Exclusion(enum.StrEnum):
    """Passages that a retrieval excludes."""

    NONE = "none"
    SEEN = "seen"
    """The passages that earlier retrievals of the answer read (the setting ``exclude_seen``)."""
    MATCHED_DEPTH = "matched_depth"
    """None. A control for ``seen``: every retrieval of an answer reads the smallest number of
    passages at which the answer reads at least as many distinct passages as with ``seen``."""


@dataclass(frozen=True, slots=True)
class FormulationVariant:
    """A formulation with its settings; ``scorer`` is the control of its contributions.

    Its retrievals read ``extra`` passages more than those of other variants.
    """

    label: str
    query: QuerySettings
    scorer: Control | None = None
    exclusion: Exclusion = Exclusion.NONE
    extra: int = 0

    @property
    def scored(self) -> bool:
        """Whether the formulation uses contributions."""
        return EvidenceKind.CONTRIBUTIONS in FORMULATIONS[self.query.formulation].needs

    @property
    def name(self) -> str:
        """The label without exclusion, extra passages and control."""
        return _labelled(replace(self, scorer=None, exclusion=Exclusion.NONE, extra=0)).label

    def by(self, scorer: Control | None) -> "FormulationVariant":
        """Return the same formulation with another scorer."""
        return _labelled(replace(self, scorer=scorer))

    def excluding(self, exclusion: Exclusion) -> "FormulationVariant":
        """Return the same formulation with another exclusion."""
        return _labelled(replace(self, exclusion=exclusion))


def _labelled(variant: FormulationVariant) -> FormulationVariant:
    """Return the variant with the label of its settings."""
    query = variant.query
    name = f"{WITH_QUESTION if query.include_question else ''}{query.formulation}"
    settings = []
    if variant.scored:
        settings.append(f"alpha={query.alpha:g}")
    if variant.exclusion is not Exclusion.NONE:
        settings.append(f"exclude_seen={variant.exclusion}")
    if variant.extra:
        settings.append(f"extra={variant.extra}")
    if variant.scorer is not None:
        settings.append(f"scorer={variant.scorer}")
    return replace(variant, label=f"{name}:{','.join(settings)}" if settings else name)


def plan_formulations(
    names: Sequence[str],
    alphas: Sequence[float],
    scorers: Sequence[Control | None],
    exclusions: Sequence[Exclusion] = (Exclusion.NONE,),
    extras: Sequence[int] = (),
) -> tuple[FormulationVariant, ...]:
    """Return every formulation with every exclusion, and without exclusion with every extra.

    Formulations that use contributions are returned at every alpha and with every scorer.

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
    if not all(1 <= each <= MAX_EXTRA for each in extras):
        wrong.append(Violation("--extra", f"must be 1 to {MAX_EXTRA} each"))
    if wrong:
        raise InvalidRequest(wrong)
    readings = [(each, 0) for each in exclusions] + [(Exclusion.NONE, each) for each in extras]
    planned: list[FormulationVariant] = []
    for name in names:
        formulation = name.removeprefix(WITH_QUESTION)
        settings = QuerySettings(formulation, include_question=name.startswith(WITH_QUESTION))
        scored = FormulationVariant(name, settings).scored
        for alpha, (exclusion, extra), scorer in product(
            alphas if scored else (settings.alpha,), readings, scorers if scored else (None,)
        ):
            at = replace(settings, alpha=alpha)
            if check_settings(at):
                text = f"must be over 0 and at most 100 (percent), not {alpha:g}"
                raise InvalidRequest.of("--alpha", text)
            planned.append(_labelled(FormulationVariant(name, at, scorer, exclusion, extra)))
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
