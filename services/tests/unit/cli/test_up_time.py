"""The time limit of answers of scaar up."""

import os

import pytest

from scaar.cli.serve.up_time import unlimited_answers
from scaar.orchestrator.settings import OrchestratorSettings

NAME = "SCAAR_ORCHESTRATOR_ANSWER_TIMEOUT_S"


def test_answers_are_not_limited_unless_a_setting_limits_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    assert OrchestratorSettings.read().answer_timeout_s == 60
    with unlimited_answers():
        assert OrchestratorSettings.read().answer_timeout_s == 0
    assert NAME not in os.environ
    monkeypatch.setenv(NAME, "5")
    with unlimited_answers():
        assert OrchestratorSettings.read().answer_timeout_s == 5
