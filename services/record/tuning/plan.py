"""The plan: the published policies and the tuned one with each model, on unseen worlds."""

from collections.abc import Iterator, Mapping

from record.ceiling import DEPLOYED
from record.plan import SHIPPED, SHIPPED_PARTS, Entry
from record.pool import TUNED
from scaar.lab.models import LAB_LM, LANGUAGE_MODELS

MODELS = tuple(each for each in LANGUAGE_MODELS if each != LAB_LM)
"""The models; the results of record have the first one."""
WORLDS: Mapping[int, int] = {4_001: 75, 4_002: 40, 4_003: 40}
"""Number of questions of each world, on which nothing was chosen."""


def plan() -> tuple[Entry, ...]:
    """Return every evaluation of the record."""
    return tuple(entry for model in MODELS for entry in _of_model(model))


def _of_model(model: str) -> Iterator[Entry]:
    """Yield the published policies as the model recommends them, and the tuned one."""
    for seed, limit in WORLDS.items():
        yield Entry(name=f"{model}/{DEPLOYED}-{seed}", limit=limit, model=model, seed=seed)
        yield Entry(
            name=f"{model}/{TUNED}-{seed}",
            limit=limit,
            policies=("perplexity",),
            tuned=(SHIPPED,),
            values=SHIPPED_PARTS,
            grid=2,
            model=model,
            seed=seed,
        )
