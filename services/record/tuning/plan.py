"""The plan: the published policies and the tuned one with each model, on unseen worlds."""

from collections.abc import Iterator

from record.ceiling import DEPLOYED
from record.plan import SHIPPED, SHIPPED_PARTS, WORLD_QUESTIONS, Entry
from record.pool import TUNED

MODELS = ("lab-lm-b", "lab-lm-confident")
"""The models with a tuned policy; the results of record have the first one."""
WORLDS = (4_001, 4_002, 4_003)
"""Worlds that nothing was chosen on, by their seeds."""


def plan() -> tuple[Entry, ...]:
    """Return every evaluation of the record."""
    return tuple(entry for model in MODELS for entry in _of_model(model))


def _of_model(model: str) -> Iterator[Entry]:
    """Yield the published policies as the model recommends them, and the tuned one."""
    for seed in WORLDS:
        deployed = f"{model}/{DEPLOYED}-{seed}"
        yield Entry(name=deployed, limit=WORLD_QUESTIONS, model=model, seed=seed)
        yield Entry(
            name=f"{model}/{TUNED}-{seed}",
            limit=WORLD_QUESTIONS,
            policies=("perplexity",),
            tuned=(SHIPPED,),
            values=SHIPPED_PARTS,
            grid=4,
            model=model,
            seed=seed,
        )
