"""Signals of a drafted sentence: numbers by which a learned trigger judges the draft.

Surprisals are -ln p of tokens, entropies those of tokens, both in nats. *Values* are the tokens in
names, dates and numbers (:mod:`scaar.core.text.spans`), *others* all other tokens; the maximum,
mean and sum over no token are 0. ``weighted_surprisal`` is that of the trigger ``tokensar``.
``entity_count_min`` and ``entities_together_min`` are the smallest counts in a corpus, of an entity
and of two entities together; a sentence can lack them.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

from scaar.core.evidence.evidence import DraftContext, Evidence
from scaar.core.text.spans import value_spans
from scaar.core.text.words import split_words, tokens_of
from scaar.core.types import EvidenceKind

_NO_CONTEXT = DraftContext("", "")


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal: ``value`` is None where the evidence lacks it. ``needs`` is that evidence."""

    value: Callable[["_Material"], float | None]
    needs: frozenset[EvidenceKind] = frozenset()


@dataclass(frozen=True, slots=True)
class _Material:
    """What signals are computed from. The surprisals are empty where one is missing."""

    evidence: Evidence
    context: DraftContext
    words: int
    surprisals: Sequence[float]
    values: Sequence[float]
    others: Sequence[float]
    entropies: Sequence[float]


def signals_of(evidence: Evidence) -> dict[str, float]:
    """Return every signal for which there is evidence, by name."""
    material = _material_of(evidence)
    found = {name: each.value(material) for name, each in SIGNALS.items()}
    return {name: value for name, value in found.items() if value is not None}


def evidence_of_signals(names: Collection[str]) -> frozenset[EvidenceKind]:
    """Return the evidence that the signals of these names need."""
    return frozenset().union(*(SIGNALS[name].needs for name in names))


def _material_of(evidence: Evidence) -> _Material:
    # A token is not a whole word.
    context = evidence.context or _NO_CONTEXT
    words = split_words(context.text) if evidence.context else evidence.words
    known = evidence.surprisals or ()
    positions = tokens_of(words, evidence.tokens)
    spans = value_spans([word.text for word in words])
    in_spans = {each for start, end in spans for word in positions[start:end] for each in word}
    entropies = [token.entropy for token in evidence.tokens]
    finite = [each for each in entropies if each is not None and math.isfinite(each)]
    return _Material(
        evidence=evidence,
        context=context,
        words=len(words),
        surprisals=known,
        values=[each for at, each in enumerate(known) if at in in_spans],
        others=[each for at, each in enumerate(known) if at not in in_spans],
        entropies=finite if len(finite) == len(entropies) else (),
    )


def _maximum(numbers: Sequence[float]) -> float:
    return max(numbers, default=0.0)


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers) if numbers else 0.0


def _of_tokens(
    measure: Callable[[Sequence[float]], float],
    pick: Callable[[_Material], Sequence[float]],
    material: _Material,
) -> float | None:
    return measure(pick(material)) if material.surprisals else None


def _of_entropies(measure: Callable[[Sequence[float]], float], material: _Material) -> float | None:
    return measure(material.entropies) if material.entropies else None


def _weighted(material: _Material) -> float | None:
    return (
        material.evidence.weighted_surprisal
        if material.evidence.contributions is not None
        else None
    )


def _of_counts(field: Literal["counts", "together"], material: _Material) -> float | None:
    """Return the smallest count of a sentence; None if there is none."""
    counts = material.evidence.corpus_counts
    found: tuple[int, ...] = getattr(counts, field) if counts else ()
    return float(min(found)) if found else None


_PROBABILITIES = frozenset({EvidenceKind.PROBABILITIES})
_ENTROPY = frozenset({EvidenceKind.ENTROPY})
_CORPUS_COUNTS = frozenset({EvidenceKind.CORPUS_COUNTS})
_GROUPS: Mapping[str, Callable[[_Material], Sequence[float]]] = {
    "": lambda material: material.surprisals,
    "value_": lambda material: material.values,
    "other_": lambda material: material.others,
}
_MEASURES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "max": _maximum,
    "mean": _mean,
    "sum": math.fsum,
}

SIGNALS: Mapping[str, Signal] = MappingProxyType(
    {
        **{
            f"{group}surprisal_{name}": Signal(partial(_of_tokens, measure, pick), _PROBABILITIES)
            for group, pick in _GROUPS.items()
            for name, measure in _MEASURES.items()
        },
        "entropy_max": Signal(partial(_of_entropies, _maximum), _ENTROPY),
        "entropy_mean": Signal(partial(_of_entropies, _mean), _ENTROPY),
        "weighted_surprisal": Signal(
            _weighted, frozenset({EvidenceKind.PROBABILITIES, EvidenceKind.CONTRIBUTIONS})
        ),
        "entity_count_min": Signal(partial(_of_counts, "counts"), _CORPUS_COUNTS),
        "entities_together_min": Signal(partial(_of_counts, "together"), _CORPUS_COUNTS),
        "sentence": Signal(lambda material: float(material.context.sentence)),
        "words": Signal(lambda material: float(material.words)),
        "passages_read": Signal(lambda material: float(material.context.passages_read)),
    }
)
"""The signals by name."""
