"""The settings of an evaluation: each policy at every combination of values that it takes."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from scaar.core.controls import Control
from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies import PRESETS
from scaar.core.policies.checks import check_policy, without_idle
from scaar.core.types import PolicyOverrides, PolicyRequest
from scaar.evaluator.records import Setting

Value = float | int | bool | str
Values = Mapping[str, Sequence[Value]]
"""The values of settings by the setting's name, a field of :class:`PolicyOverrides`."""


def plan_settings(policies: Sequence[str], values: Values) -> tuple[Setting, ...]:
    """Every policy at each combination of the values that mean something to it.

    What a policy does not take, or what has no effect beside its other values, it is run without;
    so is a setting of which no value is in its range.

    Raises:
        InvalidRequest: naming every policy that is unknown, named twice or left without a setting,
            and every value that is given twice or that no policy can use.
    """
    _refuse(_wrong_names(policies))
    _refuse(_given_twice(values))
    refused: dict[tuple[str, Value], Violation] = {}
    used: set[tuple[str, Value]] = set()
    found: dict[PolicyRequest, None] = {}
    for name in policies:
        requests, wrong = _taken(name, values)
        refused |= wrong
        for request in requests:
            found[request] = None
            used |= set(_given(request.overrides))
    _refuse(_unused(policies, values, used, refused))
    left = [name for name in policies if not any(each.name == name for each in found)]
    _refuse(Violation("policies", f"{name} takes none of the values given") for name in left)
    return tuple(setting_of(request) for request in found)


def setting_of(
    request: PolicyRequest, scorer: Control | None = None, index: str | None = None
) -> Setting:
    """The policy as a setting under its label, asked with the scorer or a control of it."""
    return Setting(label_of(request, scorer, index), request, scorer, index)


def label_of(
    request: PolicyRequest, scorer: Control | None = None, index: str | None = None
) -> str:
    """The policy's name, and what is different about it: ``scaar:theta=0.8,scorer=permuted``."""
    given = [f"{name}={_written(value)}" for name, value in _given(request.overrides)]
    given += [f"scorer={scorer}"] if scorer else []
    given += [f"index={index}"] if index else []
    return f"{request.name}:{','.join(given)}" if given else request.name


def requests_of(policy: str, values: Values) -> tuple[PolicyRequest, ...]:
    """The policy at each combination of the values that it can run; it may be at none of them."""
    return tuple(_taken(policy, values)[0])


def _taken(
    policy: str, values: Values
) -> tuple[list[PolicyRequest], dict[tuple[str, Value], Violation]]:
    """What the policy can run, and the values that keep it from others."""
    found, refused = _requests(policy, values)
    if not found:
        # None of the values of a setting is one for it: it keeps its own.
        outside = {setting for setting, _ in refused}
        kept = {each: given for each, given in values.items() if each not in outside}
        found, _ = _requests(policy, kept)
    return found, refused


def _requests(
    policy: str, values: Values
) -> tuple[list[PolicyRequest], dict[tuple[str, Value], Violation]]:
    """What of the combinations the policy can run, and the values that keep it from others."""
    found: list[PolicyRequest] = []
    refused: dict[tuple[str, Value], Violation] = {}
    for request in _combinations(policy, values):
        wrong = check_policy(request)
        if not wrong:
            found.append(request)
        for violation in wrong:
            setting = violation.field.removeprefix("policy.")
            refused |= {pair: violation for pair in _given(request.overrides) if pair[0] == setting}
    return found, refused


def _combinations(policy: str, values: Values) -> Iterator[PolicyRequest]:
    """The policy's requests, without what is idle in them, each once."""
    seen = set()
    for combination in itertools.product(*values.values()):
        overrides = PolicyOverrides(**dict(zip(values, combination, strict=True)))  # type: ignore[arg-type]
        request = without_idle(PolicyRequest(policy, overrides))
        if request not in seen:
            seen.add(request)
            yield request


def _given(overrides: PolicyOverrides) -> list[tuple[str, Value]]:
    pairs = ((each.name, getattr(overrides, each.name)) for each in fields(overrides))
    return [(name, value) for name, value in pairs if value is not None]


def _written(value: Value) -> str:
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
                yield Violation(name, f"{_written(value)} is given twice")


def _unused(
    policies: Sequence[str],
    values: Values,
    used: set[tuple[str, Value]],
    refused: Mapping[tuple[str, Value], Violation],
) -> Iterator[Violation]:
    for name, given in values.items():
        for value in given:
            if (name, value) in used:
                continue
            if (name, value) in refused:
                yield Violation(name, refused[name, value].description)
            else:
                nobody = f"{_written(value)} means nothing to {' or '.join(policies)}"
                yield Violation(name, nobody)


def _refuse(wrong: Iterator[Violation]) -> None:
    if found := list(wrong):
        raise InvalidRequest(found)
