"""What a policy is tuned on: the model, the scorer and the index of an orchestrator."""

from collections.abc import Sequence
from dataclasses import replace

from scaar.core.ports import Catalog
from scaar.core.prompts import profile_of
from scaar.core.types import TuningConditions


async def conditions_of(
    catalog: Catalog, index: str, *, scored: bool, prompt_profile: str = ""
) -> TuningConditions:
    """Return the model, the scorer if it is used, and the index of an orchestrator.

    ``prompt_profile`` is that of the answers; empty for that of the model.
    """
    described = await catalog.describe()
    found = {each.name: each for each in await catalog.list_indexes()}.get(index)
    model, scorer = described.model, described.scorer
    dense = found.dense if found else None
    return TuningConditions(
        model=model.model,
        model_revision=model.revision,
        scorer=scorer.model if scored else "",
        scorer_revision=scorer.revision if scored else "",
        index=found.name if found else "",
        index_engine=found.engine if found else "",
        index_version=found.version if found else "",
        encoder=dense.encoder if dense else "",
        encoder_revision=dense.encoder_revision if dense else "",
        analysis=found.analysis if found else "",
        prompt_profile=profile_of(prompt_profile or model.prompt_profile).label,
    )


def common_conditions(conditions: Sequence[TuningConditions]) -> TuningConditions:
    """Return the conditions of all samples.

    Several indexes have no common version, and several sets of examples no common one.
    """
    names = ", ".join(dict.fromkeys(each.index for each in conditions))
    versions = {each.index_version for each in conditions}
    version = versions.pop() if len(versions) == 1 else ""
    profiles = {each.prompt_profile for each in conditions}
    if len(profiles) > 1:
        profiles = {each.partition(":")[0] for each in profiles}
    profile = profiles.pop() if len(profiles) == 1 else ""
    return replace(conditions[0], index=names, index_version=version, prompt_profile=profile)
