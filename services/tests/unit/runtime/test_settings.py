from typing import Any

import pytest
from pydantic import ValidationError

from scaar.core.errors import InvalidRequest
from scaar.runtime.settings import ServiceSettings, settings_of


class ExampleSettings(ServiceSettings):
    model_config = settings_of("query_builder")

    threads: int = 2
    names: tuple[str, ...] = ()


def refused(**flags: Any) -> str:
    with pytest.raises(InvalidRequest) as caught:
        ExampleSettings.read(**flags)
    return str(caught.value)


def test_flags_go_over_the_environment_over_the_file_over_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ExampleSettings.read().threads == 2
    assert ExampleSettings.read({"threads": 3}).threads == 3
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_THREADS", "4")
    assert ExampleSettings.read({"threads": 3}).threads == 4
    assert ExampleSettings.read({"threads": 3}, threads=5).threads == 5
    assert ExampleSettings.read({"threads": 3}, threads=None).threads == 4


def test_what_was_given_can_be_told_from_defaults() -> None:
    assert ExampleSettings.read(address="a:1").model_fields_set == {"address"}


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        ExampleSettings().threads = 3


def test_a_wrong_setting_is_named_as_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(threads="many").startswith("SCAAR_QUERY_BUILDER_THREADS: ")
    assert refused(max_call_s=0).startswith("SCAAR_QUERY_BUILDER_MAX_CALL_S: ")
    assert refused(thread=1).startswith("SCAAR_QUERY_BUILDER_THREAD: ")
    monkeypatch.setenv("SCAAR_QUERY_BUILDER_NAMES", "a, b")
    assert "names" in refused()
