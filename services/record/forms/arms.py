"""Arms: what weighs the words of a draft, from the scorer and from controls that know less."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean

from wordfreq import word_frequency

from record.forms.drafts import Draft, path_of, read_drafts, store_rows
from record.forms.plan import CONSTANT, SCORER
from scaar.core.text.word_classes import WordClass, word_classes
from scaar.core.text.words import split_words
from scaar.core.types import ScoreRequest
from scaar.evaluator.store.files import read_whole
from scaar.lab.models import LAB_MEANING_ENCODER, model_folder
from scaar.lab.sentences import FORMS, SentenceForm, WordKind
from scaar.scorer.controls.idf import rarity
from scaar.scorer.controls.permuted import permuted
from scaar.scorer.factory import open_scorer
from scaar.scorer.settings import ScorerSettings

Contributions = tuple[float, ...]

ORACLE_COSTS = {
    WordKind.VALUE: 0.35,
    WordKind.RELATION: 0.3,
    WordKind.SUBJECT: 0.15,
    WordKind.FIXED: 0.02,
    WordKind.FREE: 0.02,
}
"""Contributions of the oracle mask: the labels of ``lab-cross-encoder``'s training, by kind."""
_BATCH = 32


def score_request(draft: Draft) -> ScoreRequest:
    """Return the request for a draft: the film's title, as in the encoder's training pairs."""
    words = tuple(word.text for word in split_words(draft.text))
    return ScoreRequest(f"{draft.film}:", words)


def write_contributions(root: Path, model: str) -> Iterator[SentenceForm]:
    """Score the drafts of every form without a file; yield each form once it is stored.

    Drafts that are no sentence of the world have no contributions.
    """
    for form in FORMS:
        path = path_of(root, "contributions", model, form)
        if path.exists():
            continue
        drafts = read_drafts(root, model, form)
        found = iter(asyncio.run(_scored([score_request(each) for each in drafts if each.labels])))
        store_rows(path, [next(found) if each.labels else () for each in drafts])
        yield form


def read_contributions(root: Path, model: str, form: SentenceForm) -> list[Contributions]:
    """Read the scorer's contributions of a model's drafts of a form."""
    lines = read_whole(path_of(root, "contributions", model, form)).decode().splitlines()
    return [tuple(json.loads(line)) for line in lines]


def arms_of(
    drafts: Sequence[Draft], scored: Sequence[Contributions]
) -> list[Mapping[str, Contributions]]:
    """Return the contributions of every arm for drafts of a form, except for unread ones.

    ``scored`` are those of the scorer. ``random`` draws from all of them, without regard to words.
    """
    pool = [value for each in scored for value in each]
    return [
        _arms(draft, own, pool, Random(f"{number} {draft.text}"))
        for number, (draft, own) in enumerate(zip(drafts, scored, strict=True))
    ]


def _arms(
    draft: Draft, scored: Contributions, pool: Sequence[float], random: Random
) -> Mapping[str, Contributions]:
    request = score_request(draft)
    classes = word_classes(request.words)
    return {
        SCORER: scored,
        CONSTANT: (fmean(scored),) * len(scored),
        "permuted": permuted(request, scored),
        "random": tuple(random.choices(pool, k=len(scored))),
        "idf": tuple(rarity(word, _frequency) for word in request.words),
        "content_mask": tuple(float(each is WordClass.CONTENT) for each in classes),
        "oracle_mask": tuple(ORACLE_COSTS[kind] for kind in draft.kinds),
    }


def _frequency(word: str) -> float:
    return float(word_frequency(word, "en", wordlist="large"))


async def _scored(requests: Sequence[ScoreRequest]) -> list[Contributions]:
    settings = ScorerSettings(model=model_folder(LAB_MEANING_ENCODER), threads=1)
    found: list[Contributions] = []
    async with open_scorer(settings) as scorer:
        for start in range(0, len(requests), _BATCH):
            found += await scorer.score_contributions(requests[start : start + _BATCH])
    return found
