"""The lab as a provider of defaults."""

import json
from collections.abc import Collection, Iterator
from functools import cache

from scaar.core.defaults import DefaultIndex, DefaultScorer, DefaultsProvider
from scaar.core.distributions import LAB_SEED
from scaar.core.types import Passage
from scaar.lab.models import (
    FREE_MODELS,
    LAB_CROSS_ENCODER,
    LAB_RERANKER,
    LANGUAGE_MODELS,
    SHIPPED_MODELS,
    TAGGED_MODELS,
    model_folder,
)
from scaar.lab.passages import passages_of
from scaar.lab.world import build_world

INDEX_VERSION = "1edbffaa06e42555372e9147f166c086f6c63d85cfd403c66793786fbbfe6469"
"""Version of the index ``lab`` with the default k1 and b."""


def index_of(seed: int) -> DefaultIndex:
    """Return the index of a world: ``lab`` for the default one, else ``lab-SEED``."""

    def passages() -> Iterator[Passage]:
        for passage in passages_of(build_world(seed)):
            yield Passage(passage.id, passage.title, passage.text)

    if seed == LAB_SEED:
        return DefaultIndex("lab", passages, INDEX_VERSION)
    return DefaultIndex(f"lab-{seed}", passages)


@cache
def _digests() -> Collection[str]:
    """Return the SHA-256 of every model, from the training reports."""
    reports = (model_folder(name) / "training_report.json" for name in SHIPPED_MODELS)
    return frozenset(
        digest
        for report in reports
        for file, digest in json.loads(report.read_text())["files"].items()
        if file.startswith("model.")
    )


LAB = DefaultsProvider(
    text_kind="lab",
    language_models={
        name: model_folder(name) for name in (*LANGUAGE_MODELS, *TAGGED_MODELS, *FREE_MODELS)
    },
    scorer=DefaultScorer("onnx", model_folder(LAB_CROSS_ENCODER)),
    rerankers={LAB_RERANKER: model_folder(LAB_RERANKER)},
    index=index_of(LAB_SEED),
    digests=_digests,
)
