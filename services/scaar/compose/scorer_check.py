"""The check of an orchestrator's scorer at its start, against the model and the policies it has."""

import asyncio

from scaar.core.defaults.text_kinds import scorer_mismatch
from scaar.core.errors import CapabilityMissing, ScaarError, ScorerMismatch
from scaar.core.loop.loop import Ports
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.policies.requirements import needs_scorer
from scaar.core.types import PolicyRequest
from scaar.orchestrator.settings import OrchestratorSettings

_TIMEOUT_S = 5.0
"""Time to describe model and scorer, in seconds."""


def policy_with_contributions(settings: OrchestratorSettings, policies: TunedPolicies) -> str:
    """Return the default or shadow policy that uses contributions and its setting; empty if none.

    An example is ``scaar (SCAAR_ORCHESTRATOR_DEFAULT_POLICY)``.
    """
    named = {"DEFAULT": settings.default_policy, "SHADOW": settings.shadow_policy}
    for which, name in named.items():
        if name and needs_scorer(policies.resolve(PolicyRequest(name))):
            return f"{name} (SCAAR_ORCHESTRATOR_{which}_POLICY)"
    return ""


async def check_scorer(
    ports: Ports, settings: OrchestratorSettings, policies: TunedPolicies
) -> None:
    """Check that the scorer fits the model, if the default or the shadow policy uses it.

    Model and scorer that cannot be described now are compared in every answer.

    Raises:
        ScorerMismatch: the scorer does not fit.
        CapabilityMissing: there is no scorer.
    """
    policy = policy_with_contributions(settings, policies)
    if not policy or settings.allow_scorer_mismatch:
        return
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            model = await ports.generator.describe_model()
            scorer = await ports.scorer.describe_model()
    except CapabilityMissing as error:
        raise CapabilityMissing(f"policy {policy}: {error.message}") from error
    except (ScaarError, TimeoutError):
        return
    if mismatch := scorer_mismatch(model, scorer):
        raise ScorerMismatch(f"policy {policy}: {mismatch}")
