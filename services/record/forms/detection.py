"""Detection of wrong drafts by form, arm and trigger, with bootstrap samples of whole films."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from record.forms.arms import Contributions, arms_of, read_contributions
from record.forms.drafts import Draft, path_of, read_drafts
from record.forms.plan import ARMS, MODELS, RESAMPLES, TRIGGERS
from scaar.core.evidence.evidence import Evidence
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.text.words import split_words
from scaar.core.triggers import TRIGGERS as RULES
from scaar.core.types import Capability, LogprobKind, ModelDescription, PolicyRequest
from scaar.evaluator.statistics.table import Floats
from scaar.lab.sentences import FORMS, SentenceForm, WordKind

UNWEIGHTED = "flare"
REFERENCES = (UNWEIGHTED, "perplexity", "surprisal_sum", "value_surprisal")
"""Scores without contributions. ``value_surprisal`` counts the words of values alone: the surprisal
of the sentence without that of its style."""
Key = tuple[str, str]
"""A trigger and an arm; a reference has no arm."""
KEYS: tuple[Key, ...] = (
    *((trigger, arm) for trigger in TRIGGERS for arm in ARMS),
    *((name, "") for name in REFERENCES),
)
Samples = NDArray[np.float64]
"""A statistic, followed by its bootstrap samples."""
Statistic = Callable[[Floats, NDArray[np.bool_], Floats], Samples]
"""Computes a statistic of scores, truths, and weights of drafts, one row for each sample."""


@dataclass(frozen=True, slots=True, eq=False)
class FormDetection:
    """The read drafts of a model and a form, with scores: the higher, the likelier wrong.

    ``drafted`` counts the drafts, with those that have no form of the world, which are left out.
    ``length_kept`` is the share of read drafts with the words of the form, and ``style_share`` the
    mean share of free words in the surprisal of a draft.
    """

    model: str
    form: SentenceForm
    films: tuple[str, ...]
    wrong: NDArray[np.bool_]
    scores: Mapping[Key, Floats]
    drafted: int
    length_kept: float
    style_share: float


def read_detections(root: Path) -> list[FormDetection]:
    """Return the judged drafts of every model and form with stored contributions."""
    return [
        _detection(
            model,
            form,
            read_drafts(root, model, form),
            read_contributions(root, model, form),
        )
        for model in MODELS
        for form in FORMS
        if path_of(root, "contributions", model, form).exists()
    ]


class FilmSamples:
    """Bootstrap samples of the films of all forms: how often each sample contains a film."""

    def __init__(self, detections: Sequence[FormDetection], *, resamples: int = RESAMPLES) -> None:
        films = sorted({film for each in detections for film in each.films})
        self._at = {film: at for at, film in enumerate(films)}
        chance = np.random.default_rng(0)
        counts = chance.multinomial(len(films), [1 / len(films)] * len(films), size=resamples)
        self._weights = np.vstack([np.ones(len(films)), counts])

    def of(self, detection: FormDetection, key: Key, statistic: Statistic) -> Samples:
        """Return a statistic of a form's drafts, followed by its samples."""
        weights = self._weights[:, [self._at[film] for film in detection.films]]
        return statistic(detection.scores[key], detection.wrong, weights)


def aurocs(scores: Floats, wrong: NDArray[np.bool_], weights: Floats) -> Samples:
    """Return how often a wrong draft scores above a right one; not a number without either."""
    above = scores[wrong][:, None] > scores[~wrong][None]
    ties = scores[wrong][:, None] == scores[~wrong][None]
    pairs = weights[:, wrong].sum(1) * weights[:, ~wrong].sum(1)
    won: Samples = ((weights[:, wrong] @ (above + 0.5 * ties)) * weights[:, ~wrong]).sum(1)
    return _divided(won, pairs)


def found_shares(scores: Floats, wrong: NDArray[np.bool_], weights: Floats) -> Samples:
    """Return the share of wrong drafts among as many of the highest scores as are wrong.

    This compares arms at an equal retrieval rate: that of a perfect detector. Drafts that tie at
    the edge count in part.
    """
    order = np.argsort(-scores, kind="stable")
    values, starts = np.unique(-scores[order], return_index=True)
    of_group = np.repeat(np.arange(len(values)), np.diff([*starts, len(scores)]))
    groups = np.zeros((len(scores), len(values)))
    groups[np.arange(len(scores)), of_group] = 1
    in_group = weights[:, order] @ groups
    wrong_in_group = (weights * wrong)[:, order] @ groups
    total = (weights * wrong).sum(1, keepdims=True)
    room = np.clip(total - (in_group.cumsum(1) - in_group), 0, in_group)
    share = np.divide(room, in_group, out=np.zeros_like(room), where=in_group > 0)
    found = (share * wrong_in_group).sum(1)
    return _divided(found, total[:, 0])


def _divided(values: Samples, by: Samples) -> Samples:
    return np.asarray(np.where(by > 0, values / np.where(by > 0, by, 1.0), math.nan))


def _detection(
    model: str, form: SentenceForm, drafts: Sequence[Draft], scored: Sequence[Contributions]
) -> FormDetection:
    kept = [(draft, own) for draft, own in zip(drafts, scored, strict=True) if draft.labels]
    read = [draft for draft, _ in kept]
    scores: dict[Key, list[float]] = {key: [] for key in KEYS}
    for draft, arms in zip(read, arms_of(read, [own for _, own in kept]), strict=True):
        for trigger in TRIGGERS:
            for arm, contributions in arms.items():
                scores[trigger, arm].append(_score(draft, trigger, contributions))
        for name in REFERENCES:
            scores[name, ""].append(_reference(draft, name))
    return FormDetection(
        model=model,
        form=form,
        films=tuple(draft.film for draft in read),
        wrong=np.array([draft.wrong for draft in read], dtype=bool),
        scores={key: np.array(values) for key, values in scores.items()},
        drafted=len(drafts),
        length_kept=_mean([len(draft.kinds) == form.words for draft in read]),
        style_share=_mean(list(map(_style_share, read))),
    )


def _score(draft: Draft, trigger: str, contributions: Contributions | None = None) -> float:
    """Return the trigger's score, with its sign so that a wrong draft should score higher."""
    evidence = Evidence(split_words(draft.text), draft.tokens, contributions=contributions)
    score = RULES[trigger].judge(evidence, replace(_SCAAR, trigger=trigger)).score
    by_word = RULES[trigger].by_word
    if score is None:
        return -math.inf
    return -score if by_word else score


def _reference(draft: Draft, name: str) -> float:
    if name != "value_surprisal":
        return _score(draft, name)
    probabilities = Evidence(split_words(draft.text), draft.tokens).probabilities
    return -sum(
        math.log(max(probability or 0.0, 1e-12))
        for probability, kind in zip(probabilities, draft.kinds, strict=True)
        if kind is WordKind.VALUE
    )


def _style_share(draft: Draft) -> float:
    surprisals = Evidence(split_words(draft.text), draft.tokens).surprisals or ()
    probabilities = Evidence(split_words(draft.text), draft.tokens).probabilities
    style = -sum(
        math.log(probability or 1e-12)
        for probability, kind in zip(probabilities, draft.kinds, strict=True)
        if kind is WordKind.FREE
    )
    return style / total if (total := sum(surprisals)) > 0 else 0.0


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


_MODEL = ModelDescription(
    model="",
    revision="",
    engine="",
    logprob_kind=LogprobKind.RAW,
    capabilities=frozenset({Capability.LOGPROBS}),
    max_total_tokens=0,
    prompt_profile="",
)
"""A model without recommendations: the policy has the settings of its paper."""
_SCAAR = effective_policy(PolicyRequest("scaar"), _MODEL)
