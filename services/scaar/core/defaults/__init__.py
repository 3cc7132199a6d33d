"""Providers of defaults: what a process uses where no setting names another model or index."""

from scaar.core.defaults.provider import DefaultIndex, DefaultScorer, DefaultsProvider
from scaar.core.optional_parts import OptionalParts, Place
from scaar.core.registry import Registry

__all__ = ["DEFAULTS", "DefaultIndex", "DefaultScorer", "DefaultsProvider"]


def _problem(name: str, provider: DefaultsProvider) -> str:
    if name != provider.text_kind:
        return f"text_kind must be the name of the provider, not {provider.text_kind!r}"
    return ""


DEFAULTS: Registry[DefaultsProvider] = Registry(
    "provider of defaults",
    "scaar.defaults",
    DefaultsProvider,
    OptionalParts(
        {
            "lab": Place("scaar.lab", "scaar.lab.defaults", "LAB"),
            # A checkout has the folder of models once they are in place.
            "english": Place("scaar_english.models", "scaar.encoders.english", "ENGLISH"),
        }
    ),
    problem=_problem,
)
"""The providers by kind of text. Those whose distributions are not installed are absent."""
