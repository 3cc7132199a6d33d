"""The tuned policies of an orchestrator, and what they may be used with."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace

from scaar.core.errors import PolicyMismatch
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import combination_of
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.policies.settings import idle
from scaar.core.triggers import learned
from scaar.core.types import (
    EffectivePolicy,
    IndexDescription,
    ModelDescription,
    PolicyArtefact,
    PolicyDescription,
    PolicyOverrides,
    PolicyRequest,
    ScorerDescription,
    SettingSource,
    TuningConditions,
)

PUBLISHED_DEFAULT = "scaar"
"""The default policy of an orchestrator without another setting."""

_OF_TRIGGER = frozenset({"theta", "theta_cap", "granularity", "spare_stop_words"})
"""Settings whose values are for one trigger."""
_UNKNOWN = frozenset({"", "unknown"})


class TunedPolicies(Mapping[str, PolicyArtefact]):
    """The artefacts of an orchestrator by name, and its default policy."""

    def __init__(
        self, artefacts: Iterable[PolicyArtefact] = (), *, default: str = PUBLISHED_DEFAULT
    ) -> None:
        self._artefacts = {each.name: each for each in artefacts}
        self.default = default
        """The policy of requests that name none."""

    def __getitem__(self, name: str) -> PolicyArtefact:
        return self._artefacts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._artefacts)

    def __len__(self) -> int:
        return len(self._artefacts)

    def resolve(self, request: PolicyRequest) -> PolicyRequest:
        """Return the request by a published policy, with the settings of its artefact, if any.

        Overrides of the request take precedence. An unknown name is returned as it is.
        """
        name = request.label or self.default
        artefact = self.get(name)
        if artefact is None:
            return replace(request, name=name, artefact="")
        overrides = _merged(artefact, request.overrides)
        return replace(
            request,
            name=artefact.policy,
            overrides=overrides,
            learned=artefact.learned if overrides.trigger == learned.NAME else None,
            artefact=name,
        )

    def effective(
        self,
        request: PolicyRequest,
        model: ModelDescription,
        *,
        gate_threshold: float | None = None,
    ) -> EffectivePolicy:
        """Return the policy of a resolved request as it is run on a model.

        A tuned policy goes by the name of its artefact, and its settings have it as their source.
        """
        policy = effective_policy(request, model, gate_threshold=gate_threshold)
        if not request.artefact:
            return policy
        own, given = self[request.artefact].settings.given(), request.overrides.given()
        sources = tuple(
            (name, SettingSource.ARTEFACT if name in own and own[name] == given[name] else source)
            if name in given
            else (name, source)
            for name, source in policy.sources
        )
        return replace(policy, name=request.artefact, sources=sources)


NO_POLICIES = TunedPolicies()
"""No tuned policies, and the default policy of an orchestrator without another setting."""


def described_policies(descriptions: Iterable[PolicyDescription]) -> TunedPolicies:
    """Return the tuned policies of an orchestrator from its catalog.

    The parameters of learned triggers are not described: the orchestrator adds them to a request.
    """
    return TunedPolicies(
        PolicyArtefact(
            name=each.name,
            policy=each.artefact.policy,
            settings=_artefact_settings(each.policy),
            tuned_on=each.artefact.tuned_on,
            label_kind=each.artefact.label_kind,
            development=each.artefact.development,
            expected=each.artefact.expected,
            risk=each.artefact.risk,
            digest=each.artefact.digest,
        )
        for each in descriptions
        if each.artefact is not None
    )


def _artefact_settings(policy: EffectivePolicy) -> PolicyOverrides:
    """Return the settings in effect whose source is the artefact."""
    in_effect = {
        **{each.name: getattr(policy, each.name) for each in fields(policy)},
        **{each.name: getattr(policy.query, each.name) for each in fields(policy.query)},
        "query": policy.query.formulation,
    }
    own = (name for name, source in policy.sources if source is SettingSource.ARTEFACT)
    return PolicyOverrides(**{name: in_effect[name] for name in own})


def _merged(artefact: PolicyArtefact, overrides: PolicyOverrides) -> PolicyOverrides:
    """Return the overrides, and the settings of the artefact that have an effect with them."""
    preset, own, given = PRESETS[artefact.policy], artefact.settings.given(), overrides.given()
    merged = PolicyOverrides(**{**own, **given})  # type: ignore[arg-type]
    combination = combination_of(preset, merged)
    without = set(idle(combination))
    if combination.trigger != combination_of(preset, artefact.settings).trigger:
        without |= _OF_TRIGGER
    return replace(merged, **dict.fromkeys(without - given.keys()))


def mismatches(
    tuned_on: TuningConditions,
    model: ModelDescription | None = None,
    scorer: ScorerDescription | None = None,
    index: IndexDescription | None = None,
    *,
    prompt_profile: str = "",
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the differences that forbid a tuned policy, and those that are only reported.

    Another model, layout of the prompt, scorer, or engine, encoder or analysis of the index forbids
    it; another version of the index, or other examples in the prompt, do not. Parts that are None
    or empty, and unknown revisions, are not compared.
    """
    forbidding: list[str] = []
    reported: list[str] = []

    def compare(part: str, tuned: str, used: str, revisions: tuple[str, str] = ("", "")) -> None:
        known = _UNKNOWN.isdisjoint(revisions)
        if tuned != used:
            forbidding.append(f"{part}: tuned on {tuned or 'none'}, used with {used or 'none'}")
        elif known and revisions[0] != revisions[1]:
            text = f"tuned on {tuned}, revision {revisions[0]}, used with revision {revisions[1]}"
            forbidding.append(f"{part}: {text}")

    if model is not None:
        revisions = tuned_on.model_revision, model.revision
        compare("model", tuned_on.model, model.model, revisions)
    tuned, used = tuned_on.prompt_profile, prompt_profile
    if tuned and used and tuned != used:
        same_layout = tuned.partition(":")[0] == used.partition(":")[0]
        text = f"prompt profile: tuned on {tuned}, used with {used}"
        (reported if same_layout else forbidding).append(text)
    if scorer is not None and tuned_on.scorer:
        revisions = tuned_on.scorer_revision, scorer.revision
        compare("scorer", tuned_on.scorer, scorer.model, revisions)
    if index is not None and tuned_on.index_engine:
        dense = index.dense
        compare("index engine", tuned_on.index_engine, index.engine)
        compare(
            "index encoder",
            tuned_on.encoder,
            dense.encoder if dense else "",
            (tuned_on.encoder_revision, dense.encoder_revision if dense else ""),
        )
        compare("index analysis", tuned_on.analysis, index.analysis)
        tuned, used = tuned_on.index_version, index.version
        if tuned and tuned != used:
            text = f"tuned on {tuned_on.index} {tuned[:12]}, used with {index.name} {used[:12]}"
            reported.append(f"index version: {text}")
    return tuple(forbidding), tuple(reported)


def check_conditions(
    artefact: PolicyArtefact,
    model: ModelDescription,
    scorer: ScorerDescription | None,
    index: IndexDescription | None,
    *,
    prompt_profile: str,
    allow_mismatch: bool,
) -> tuple[str, ...]:
    """Return the differences that the answer reports.

    Raises:
        PolicyMismatch: a difference forbids the policy, and it is not allowed.
    """
    forbidding, reported = mismatches(
        artefact.tuned_on, model, scorer, index, prompt_profile=prompt_profile
    )
    if forbidding and not allow_mismatch:
        raise PolicyMismatch(
            f"policy {artefact.name} was tuned under other conditions: {'; '.join(forbidding)}; "
            "use what it was tuned on, tune again, or set allow_mismatch",
            policy=artefact.name,
            mismatch="; ".join(forbidding),
        )
    return forbidding + reported
