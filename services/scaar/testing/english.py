"""The provider of defaults ``english`` for tests, whether or not scaar-english is installed."""

from pathlib import Path

import pytest

from scaar.core.defaults import DEFAULTS, DefaultScorer, DefaultsProvider


def provide_english(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the sentence encoder in a folder be that of scaar-english."""
    scorer = DefaultScorer("bi_encoder", folder)
    english = DefaultsProvider("english", scorer=scorer, encoder=folder)
    monkeypatch.setattr(DEFAULTS, "built_in", {**_others(), "english": english})


def remove_english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scaar-english be not installed."""
    monkeypatch.setattr(DEFAULTS, "built_in", _others())


def _others() -> dict[str, DefaultsProvider]:
    names = (name for name in DEFAULTS.built_in if name != "english")
    return {name: DEFAULTS.built_in[name] for name in names}
