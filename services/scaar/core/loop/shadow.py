"""Shadow policies: the trigger of a second policy on the drafts that a policy judges.

The shadow neither retrieves nor calls the language model. It shows how often another policy would
decide differently before that policy is put into use.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from scaar.core.errors import InvalidRequest, ScaarError
from scaar.core.evidence import Draft, Sources, capabilities_for, gather
from scaar.core.loop.judge import Judged
from scaar.core.observers import UNOBSERVED_POLICIES, PolicyObserver, ShadowOutcome
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import TunedPolicies, mismatches
from scaar.core.policies.checks import check_policy, combination_of
from scaar.core.policies.requirements import counts_entities, trigger_evidence
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    Capability,
    EffectivePolicy,
    ModelDescription,
    PolicyRequest,
    Provenance,
)

_OUTCOMES = {
    (True, True): ShadowOutcome.BOTH,
    (True, False): ShadowOutcome.POLICY_ONLY,
    (False, True): ShadowOutcome.SHADOW_ONLY,
    (False, False): ShadowOutcome.NEITHER,
}


@dataclass(frozen=True, slots=True)
class Shadow:
    """The trigger of a second policy, for one answer."""

    live: str
    """The policy that answers."""
    policy: EffectivePolicy
    observer: PolicyObserver

    async def compare(self, draft: Draft, judged: Judged, sources: Sources) -> None:
        """Judge the draft as the second policy would, and report whether the two agree."""
        assert self.policy.trigger is not None
        draft = replace(draft, granularity=self.policy.granularity)
        try:
            evidence = await gather(trigger_evidence(self.policy), draft, sources)
            judgement = TRIGGERS[self.policy.trigger].judge(evidence, self.policy)
        except ScaarError:
            # The answer does not depend on its shadow.
            outcome = ShadowOutcome.FAILED
        else:
            decisions = judged.judgement.trigger is not None, judgement.trigger is not None
            outcome = _OUTCOMES[decisions]
        self.observer.on_shadow_judged(self.live, self.policy.name, outcome)


def check_shadow(name: str, policies: TunedPolicies, *, corpus_counts: bool) -> None:
    """Check a shadow policy. ``corpus_counts`` is whether the loop has some.

    Raises:
        InvalidRequest: the policy is unknown, judges no drafts, or its trigger needs another call
            of the language model, or corpus counts.
    """
    request = policies.resolve(PolicyRequest(name))
    if wrong := check_policy(request, policies):
        raise InvalidRequest.of("shadow_policy", wrong[0].description)
    trigger = combination_of(PRESETS[request.name], request.overrides).trigger
    if trigger is None:
        raise InvalidRequest.of("shadow_policy", f"{name} judges no drafts")
    if Capability.ATTENTION in capabilities_for(TRIGGERS[trigger].needs):
        text = f"the trigger {trigger} needs attention, which costs calls of the model"
        raise InvalidRequest.of("shadow_policy", text)
    if not corpus_counts and counts_entities(trigger, request.learned):
        text = f"the trigger {trigger} needs corpus_counts_file"
        raise InvalidRequest.of("shadow_policy", text)


class ShadowSampling:
    """Runs a second policy's trigger for a share of the answers."""

    def __init__(
        self,
        policies: TunedPolicies,
        policy: str,
        share: float,
        *,
        corpus_counts: bool = False,
        observer: PolicyObserver = UNOBSERVED_POLICIES,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """Check the policy; see :func:`check_shadow`."""
        check_shadow(policy, policies, corpus_counts=corpus_counts)
        self._policies = policies
        self._request = policies.resolve(PolicyRequest(policy))
        self._share = share
        self._observer = observer
        self._draw = draw

    def sample(self, provenance: Provenance, model: ModelDescription) -> Shadow | None:
        """Return the shadow of an answer; None for an answer outside the share.

        An answer by the same policy has no shadow, and neither has one whose model cannot serve the
        policy, or which is, like the prompt, not that of its artefact.
        """
        live = provenance.policy.name
        if live == self._request.label or self._draw() >= self._share:
            return None
        policy = self._policies.effective(self._request, model)
        artefact = self._policies.get(self._request.artefact)
        profile = provenance.prompt_profile
        mismatched = (
            artefact is not None and mismatches(artefact.tuned_on, model, prompt_profile=profile)[0]
        )
        if mismatched or not capabilities_for(trigger_evidence(policy)) <= model.capabilities:
            self._observer.on_shadow_judged(live, policy.name, ShadowOutcome.UNAVAILABLE)
            return None
        return Shadow(live, policy, self._observer)
