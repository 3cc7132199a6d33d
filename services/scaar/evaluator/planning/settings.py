"""The settings of an evaluation: each policy at every combination of the values it takes."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import check_policy, without_idle
from scaar.core.policies.requirements import needs_corpus_counts
from scaar.core.types import Fusion, Moment, PolicyOverrides, PolicyRequest, SentenceFilter
from scaar.evaluator.oracles import ORACLES
from scaar.evaluator.records import Setting

Value = float | int | bool | str
Values = Mapping[str, Sequence[Value]]
"""Values by the name of the setting, a field of :class:`PolicyOverrides`."""


def default_policies() -> tuple[str, ...]:
    """Return the policies of an evaluation that names none.

    These are all but oracles, and but those that not every installation serves: those for a model
    that requests searches, under which other models only answer badly, or that writes reflection
    tokens, and those that need a fitted sentence filter, the counts of a corpus or an index of
    vectors.
    """
    served = (
        name
        for name, each in PRESETS.items()
        if {Moment.ON_REQUEST, Moment.ON_REFLECTION}.isdisjoint(each.moments)
        and each.sentence_filter is SentenceFilter.NONE
        and each.fusion is Fusion.RANK
        and not needs_corpus_counts(PolicyRequest(name))
    )
    return tuple(name for name in served if name not in ORACLES)


def plan_settings(policies: Sequence[str], values: Values) -> tuple[Setting, ...]:
    """Return every policy at each combination of the values that it takes.

    Values that a policy does not take, that have no effect with its other values, or that are all
    out of range are left out for that policy.

    Raises:
        InvalidRequest: naming every policy that is unknown, named twice or without a setting, and
            every value that is given twice or that no policy takes.
    """
    _refuse(_wrong_names(policies))
    _refuse(_given_twice(values))
    refused: dict[tuple[str, Value], Violation] = {}
    used: set[tuple[str, Value]] = set()
    found: dict[PolicyRequest, None] = {}
    for name in policies:
        requests, wrong = taken(name, values)
        refused |= wrong
        for request in requests:
            found[request] = None
            used |= request.overrides.given().items()
    _refuse(unused(policies, values, used, refused))
    left = [name for name in policies if not any(each.name == name for each in found)]
    _refuse(Violation("policies", f"{name} takes none of the given values") for name in left)
    return tuple(setting_of(request) for request in found)


def check_no_values(values: Values, tuned: Sequence[str]) -> None:
    """Check that no value is given beside ``tuned`` policies alone, which keep their own.

    Raises:
        InvalidRequest: naming every value.
    """
    _refuse(unused(tuned, values, set(), {}))


def setting_of(
    request: PolicyRequest, scorer: Control | None = None, index: str | None = None
) -> Setting:
    """Return the policy as a setting with its label, for the scorer or a control of the scorer."""
    return Setting(label_of(request, scorer, index), request, scorer, index)


def label_of(
    request: PolicyRequest, scorer: Control | None = None, index: str | None = None
) -> str:
    """Return the name of the policy with its overrides: ``scaar:theta=0.8,scorer=permuted``.

    The overrides of a tuned policy include the settings of its artefact.
    """
    given = [f"{name}={written(value)}" for name, value in request.overrides.given().items()]
    given += [f"scorer={scorer}"] if scorer else []
    given += [f"index={index}"] if index else []
    return f"{request.label}:{','.join(given)}" if given else request.label


def requests_of(policy: str, values: Values) -> tuple[PolicyRequest, ...]:
    """Return the policy at each combination of values that it accepts; possibly none."""
    return tuple(taken(policy, values)[0])


def taken(
    policy: str, values: Values
) -> tuple[list[PolicyRequest], dict[tuple[str, Value], Violation]]:
    """Return the requests that the policy accepts, and the values that it refuses."""
    found, refused = _requests(policy, values)
    if not found:
        # The policy accepts no value of some settings: it keeps its own values there.
        outside = {setting for setting, _ in refused}
        kept = {each: given for each, given in values.items() if each not in outside}
        found, _ = _requests(policy, kept)
    return found, refused


def _requests(
    policy: str, values: Values
) -> tuple[list[PolicyRequest], dict[tuple[str, Value], Violation]]:
    """The combinations that the policy accepts, and the values that it refuses."""
    found: list[PolicyRequest] = []
    refused: dict[tuple[str, Value], Violation] = {}
    for request in _combinations(policy, values):
        wrong = check_policy(request)
        if not wrong:
            found.append(request)
        for violation in wrong:
            setting = violation.field.removeprefix("policy.")
            refused |= {
                pair: violation for pair in request.overrides.given().items() if pair[0] == setting
            }
    return found, refused


def _combinations(policy: str, values: Values) -> Iterator[PolicyRequest]:
    """The distinct requests of the policy, without values that have no effect."""
    seen = set()
    for combination in itertools.product(*values.values()):
        overrides = PolicyOverrides(**dict(zip(values, combination, strict=True)))  # type: ignore[arg-type]
        request = without_idle(PolicyRequest(policy, overrides))
        if request not in seen:
            seen.add(request)
            yield request


def written(value: Value) -> str:
    """Return a value as labels and messages have it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _wrong_names(policies: Sequence[str]) -> Iterator[Violation]:
    if not policies:
        yield Violation("policies", "must name at least one")
    for position, name in enumerate(policies):
        if name not in PRESETS:
            text = f"there is no policy {name!r}; known: {', '.join(PRESETS)}"
            yield Violation("policies", text)
        elif name in policies[:position]:
            yield Violation("policies", f"{name} is named twice")


def _given_twice(values: Values) -> Iterator[Violation]:
    for name, given in values.items():
        if not given:
            yield Violation(name, "must have at least one value")
        for value in dict.fromkeys(given):
            if given.count(value) > 1:
                yield Violation(name, f"{written(value)} is given twice")


def unused(
    policies: Sequence[str],
    values: Values,
    used: set[tuple[str, Value]],
    refused: Mapping[tuple[str, Value], Violation],
) -> Iterator[Violation]:
    """Yield every value that none of the policies takes, with the reason if it was refused."""
    for name, given in values.items():
        for value in given:
            if (name, value) in used:
                continue
            if (name, value) in refused:
                yield Violation(name, refused[name, value].description)
            else:
                text = f"{written(value)} has no effect on {' or '.join(policies)}"
                yield Violation(name, text)


def _refuse(wrong: Iterator[Violation]) -> None:
    if found := list(wrong):
        raise InvalidRequest(found)
