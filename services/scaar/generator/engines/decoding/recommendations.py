"""Recommendations for a model and names of its tensors, from ``scaar.json`` in its folder."""

import math
from pathlib import Path
from typing import Any

from scaar.core.errors import DataCorrupt
from scaar.core.types import RecommendedSettings
from scaar.encoders.checkpoint import JsonFile


def profile_in(advice: JsonFile) -> str | None:
    """Return the prompt profile that the folder names for the model; None if it names none.

    Raises:
        DataCorrupt: ``prompt_profile`` is not a name.
    """
    profile = advice.content.get("prompt_profile")
    if profile is not None and not isinstance(profile, str):
        raise DataCorrupt(f"{advice.path}: prompt_profile must be a name, not {profile!r}")
    return profile


def recommended_in(advice: JsonFile) -> tuple[RecommendedSettings, ...]:
    """Return the recommended settings of the model, by policy.

    Raises:
        DataCorrupt: a setting is unknown or not a valid number.
    """
    policies = advice.content.get("recommended", {})
    if not isinstance(policies, dict) or not all(
        isinstance(values, dict) for values in policies.values()
    ):
        raise DataCorrupt(f"{advice.path}: recommended must map policies to their settings")
    return tuple(_settings(advice.path, name, values) for name, values in policies.items())


def hidden_states_in(advice: JsonFile) -> tuple[str, ...]:
    """Return the names of an ONNX model's tensors of hidden states, the embeddings first.

    Raises:
        DataCorrupt: ``hidden_states`` is not a list of at least two names.
    """
    names = advice.content.get("hidden_states", [])
    if not isinstance(names, list) or len(names) == 1 or not all(_is_name(each) for each in names):
        raise DataCorrupt(
            f"{advice.path}: hidden_states must name the tensors of the embeddings and of every "
            f"layer, not {names!r}"
        )
    return tuple(names)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)


def _settings(path: Path, policy: str, values: dict[str, Any]) -> RecommendedSettings:
    kinds = {"theta": (int, float), "alpha": (int, float), "top_k": (int,)}
    settings: dict[str, Any] = {}
    for name, value in values.items():
        fits = isinstance(value, kinds.get(name, ())) and not isinstance(value, bool)
        if not fits or not math.isfinite(value):
            raise DataCorrupt(f"{path}: recommended.{policy}.{name} cannot be {value!r}")
        # JSON has one kind of number; settings that may be fractions are floats.
        settings[name] = value if kinds[name] == (int,) else float(value)
    return RecommendedSettings(policy, **settings)
