"""Folds by entity: the questions about an entity are in one fold, in every sample.

The known films of the lab are the same in every world, so their fold follows from the film alone;
films of the long tail differ between worlds.
"""

from collections.abc import Sequence
from hashlib import sha256

from scaar.core.errors import InvalidRequest
from scaar.core.plurals import counted
from scaar.evaluator.records import Question
from scaar.evaluator.results import DatasetOrigin
from scaar.evaluator.studies.tuning.records import TunedQuestion

FOLDS = 5


def fold_of(entity: str, folds: int = FOLDS) -> int:
    """Return the fold of an entity, a function of its name alone."""
    return int.from_bytes(sha256(f"fold {entity}".encode()).digest()[:8]) % folds


def tuned_questions(
    samples: Sequence[tuple[DatasetOrigin, Sequence[Question]]],
) -> tuple[TunedQuestion, ...]:
    """Return the questions of all samples with their folds.

    Raises:
        InvalidRequest: a fold is empty, because there are too few entities.
    """
    found = []
    for number, (origin, questions) in enumerate(samples):
        world = f"{origin.seed}/" if len(samples) > 1 else ""
        for each in questions:
            tail = dict(each.labels).get("popularity") == "tail"
            entity = f"{world}{each.entity}" if tail else each.entity
            key = f"{world}{each.id}"
            found.append(TunedQuestion(key, number, each, entity, fold_of(entity)))
    entities = {each.entity for each in found}
    if len({each.fold for each in found}) < FOLDS:
        entities_of = counted(len(entities), "entity")
        text = f"has questions about {entities_of}, too few for {FOLDS} folds: add some"
        raise InvalidRequest.of("dataset", text)
    return tuple(found)
