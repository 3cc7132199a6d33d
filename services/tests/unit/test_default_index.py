"""The index of requests that name none: a setting, else that of a provider of defaults."""

import pytest

from scaar.compose import default_index_name
from scaar.core.defaults import DEFAULTS, DefaultIndex, DefaultsProvider
from scaar.core.errors import InvalidRequest
from scaar.orchestrator.settings import OrchestratorSettings


def test_the_default_index_is_that_of_the_settings_else_of_a_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    films = DefaultsProvider("films", index=DefaultIndex("films-index", list))
    monkeypatch.setattr(DEFAULTS, "built_in", {"empty": DefaultsProvider("empty"), "films": films})
    assert default_index_name(OrchestratorSettings.read()) == "films-index"
    monkeypatch.setattr(DEFAULTS, "built_in", {})
    assert default_index_name(OrchestratorSettings.read()) == ""
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DEFAULT_INDEX", "handbook")
    assert default_index_name(OrchestratorSettings.read()) == "handbook"
    monkeypatch.setenv("SCAAR_ORCHESTRATOR_DEFAULT_INDEX", "My Handbook")
    with pytest.raises(InvalidRequest, match="SCAAR_ORCHESTRATOR_DEFAULT_INDEX"):
        OrchestratorSettings.read()
