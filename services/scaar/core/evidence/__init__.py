"""Evidence by which drafts are judged: what triggers and queries can name, and its providers.

A provider gathers one kind of evidence, one module each, in the table :data:`PROVIDERS`.
"""

import asyncio
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from scaar.core.evidence import (
    attention,
    contributions,
    corpus_counts,
    own_attention,
    support,
    word_classes,
)
from scaar.core.evidence.evidence import DraftContext, Evidence
from scaar.core.evidence.provider import Draft, Provider, Sources
from scaar.core.types import Capability, EvidenceKind

__all__ = [
    "PROVIDERS",
    "Draft",
    "DraftContext",
    "Evidence",
    "Sources",
    "capabilities_for",
    "gather",
]

PROVIDERS: Mapping[EvidenceKind, Provider] = MappingProxyType(
    {
        EvidenceKind.PROBABILITIES: Provider(needs=frozenset({Capability.LOGPROBS})),
        EvidenceKind.ENTROPY: Provider(needs=frozenset({Capability.ENTROPY})),
        EvidenceKind.TOP_TOKENS: Provider(needs=frozenset({Capability.LOGPROBS})),
        EvidenceKind.CONTRIBUTIONS: contributions.CONTRIBUTIONS,
        EvidenceKind.ATTENTION: attention.ATTENTION,
        EvidenceKind.OWN_ATTENTION: own_attention.OWN_ATTENTION,
        EvidenceKind.WORD_CLASSES: word_classes.WORD_CLASSES,
        EvidenceKind.CORPUS_COUNTS: corpus_counts.CORPUS_COUNTS,
        EvidenceKind.SUPPORT: support.SUPPORT,
    }
)


def capabilities_for(kinds: Collection[EvidenceKind]) -> frozenset[Capability]:
    """Return the capabilities of a generator that can provide these kinds."""
    return frozenset().union(*(PROVIDERS[kind].needs for kind in kinds))


async def gather(kinds: Collection[EvidenceKind], draft: Draft, sources: Sources) -> Evidence:
    """Return the evidence of a draft, gathered concurrently.

    Raises:
        ScaarError: the first error of a provider; the others are cancelled.
    """
    providers = {kind: found for kind in kinds if (found := PROVIDERS[kind].gather) is not None}
    if len(providers) == 1:
        # Without a task, the model does not write ahead for longer than the call takes.
        ((kind, provider),) = providers.items()
        values = {kind.value: await provider(draft, sources)}
        return _evidence(draft, values)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {
                kind: group.create_task(provider(draft, sources))
                for kind, provider in providers.items()
            }
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return _evidence(draft, {kind.value: task.result() for kind, task in tasks.items()})


def _evidence(draft: Draft, values: Mapping[str, Any]) -> Evidence:
    return Evidence(draft.units, draft.sentence.tokens, context=draft.context, **values)
