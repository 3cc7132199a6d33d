"""Providers of defaults: those of scaar, where installed, and of packages."""

import importlib
import sys
from pathlib import Path

import pytest

from scaar.core.defaults import DEFAULTS, DefaultsProvider
from scaar.core.optional_parts import OptionalParts, Place
from scaar.core.registry import ExtensionInvalid
from scaar.lab.models import LAB_CROSS_ENCODER, LAB_LM, model_folder


def test_the_lab_is_a_provider_in_a_checkout() -> None:
    lab = DEFAULTS["lab"]
    assert next(iter(lab.language_models)) == LAB_LM
    assert lab.scorer is not None
    assert lab.scorer.folder == model_folder(LAB_CROSS_ENCODER)
    assert lab.index is not None
    assert next(iter(lab.index.passages())).id == "film-0000"


def test_a_lab_model_is_known_by_the_start_of_its_digest() -> None:
    lab = DEFAULTS["lab"]
    assert lab.has_model("b4b5fc014d45")
    assert not lab.has_model("b4b5fc014d46")
    assert not lab.has_model("b4b5")
    assert not lab.has_model("")


def test_a_provider_whose_distribution_is_not_installed_is_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "scaar.lab", None)
    assert "lab" not in DEFAULTS
    assert DEFAULTS.get("lab") is None


def test_a_part_is_present_once_the_folder_in_its_package_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    place = Place("package_of_data.models", "package_of_data", "PART")
    parts: OptionalParts[DefaultsProvider] = OptionalParts({"mine": place})
    assert list(parts) == []
    (tmp_path / "package_of_data").mkdir()
    (tmp_path / "package_of_data/__init__.py").write_text("")
    importlib.invalidate_caches()
    assert list(parts) == []
    (tmp_path / "package_of_data/models").mkdir()
    importlib.invalidate_caches()
    assert list(parts) == ["mine"]


def test_a_part_that_cannot_be_imported_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_defaults.py").write_text("raise ValueError('no weights')\n")
    monkeypatch.syspath_prepend(tmp_path)
    place = Place("broken_defaults", "broken_defaults", "PART")
    parts: OptionalParts[DefaultsProvider] = OptionalParts({"mine": place})
    assert list(parts) == ["mine"]
    problem = "package broken_defaults cannot be used: broken_defaults: ValueError: no weights"
    with pytest.raises(ExtensionInvalid, match=problem):
        parts["mine"]
