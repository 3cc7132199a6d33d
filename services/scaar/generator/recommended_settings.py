"""Policy settings recommended for a model by the service's settings, for any engine."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from scaar.core.errors import InvalidRequest, Violation
from scaar.core.policies.checks import check_recommended
from scaar.core.policies.settings import RECOMMENDED, SETTINGS
from scaar.core.ports import Generator
from scaar.core.types import ModelDescription, RecommendedSettings
from scaar.core.wrapped_generator import WrappedGenerator


def recommended_of(policies: Mapping[str, Mapping[str, float]]) -> tuple[RecommendedSettings, ...]:
    """Return validated recommendations, by policy.

    Raises:
        InvalidRequest: naming every setting that is unknown or out of range, as
            ``policy.setting``.
    """
    found = [_one(policy, values) for policy, values in policies.items()]
    wrong = [violation for _, violations in found for violation in violations]
    if wrong:
        raise InvalidRequest(wrong)
    return tuple(settings for settings, _ in found)


def _one(
    policy: str, values: Mapping[str, float]
) -> tuple[RecommendedSettings, Sequence[Violation]]:
    wrong, given = list[Violation](), dict[str, Any]()
    for name, value in values.items():
        if name not in RECOMMENDED:
            known = ", ".join(RECOMMENDED)
            wrong.append(Violation(f"{policy}.{name}", f"cannot be recommended; known: {known}"))
        elif SETTINGS[name].kind is int and not (math.isfinite(value) and value == int(value)):
            text = f"must be a whole number, not {value:g}"
            wrong.append(Violation(f"{policy}.{name}", text))
        else:
            given[name] = int(value) if SETTINGS[name].kind is int else value
    settings = RecommendedSettings(policy, **given)
    return settings, [*wrong, *check_recommended(settings)]


class RecommendingGenerator(WrappedGenerator):
    """A generator whose model description has these recommendations over the model's own.

    Other recommendations of the model are unchanged.
    """

    def __init__(self, generator: Generator, recommended: Sequence[RecommendedSettings]) -> None:
        super().__init__(generator)
        self._recommended = recommended

    async def describe_model(self) -> ModelDescription:
        model = await self._generator.describe_model()
        by_policy = {each.policy: each for each in model.recommended}
        for given in self._recommended:
            known = by_policy.get(given.policy, given)
            by_policy[given.policy] = replace(known, **_set_in(given))
        return replace(model, recommended=tuple(by_policy.values()))


def _set_in(settings: RecommendedSettings) -> dict[str, Any]:
    values = {each.name: getattr(settings, each.name) for each in fields(settings)}
    return {name: value for name, value in values.items() if value is not None}
