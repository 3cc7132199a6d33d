"""Policy settings recommended by the service's settings: validated, described and used."""

import json
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.policies import PRESETS
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import PolicyOverrides, PolicyRequest, RecommendedSettings, SettingSource
from scaar.generator.factory import open_generator
from scaar.generator.recommended_settings import RecommendingGenerator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.tgi import open_tgi_server
from scaar.runtime.config_file import ConfigFile
from scaar.testing.fakes import ScriptedGenerator

VARIABLE = "SCAAR_GENERATOR_RECOMMENDED"
GIVEN = {"scaar": {"theta": 0.5, "top_k": 7}, "ircot": {"top_k": 2}}


def in_environment(monkeypatch: pytest.MonkeyPatch, value: object) -> GeneratorSettings:
    monkeypatch.setenv(VARIABLE, json.dumps(value))
    return GeneratorSettings.read()


def test_the_file_has_them_as_a_mapping_and_the_environment_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "scaar.yaml"
    file.write_text("generator:\n  recommended:\n    scaar: {theta: 0.5, alpha: 60}\n")
    in_file = GeneratorSettings.read(ConfigFile.read(file))
    assert in_file.recommended == {"scaar": {"theta": 0.5, "alpha": 60}}
    assert in_environment(monkeypatch, in_file.recommended) == in_file


@pytest.mark.parametrize("policy", [name for name in PRESETS if name != "no_retrieval"])
def test_every_policy_that_retrieves_may_be_recommended_how_much(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert in_environment(monkeypatch, {policy: {"top_k": 5}}).recommended == {policy: {"top_k": 5}}


@pytest.mark.parametrize(
    ("value", "reported"),
    [
        ({"scar": {}}, ": scar: there is no such policy; known: no_retrieval, single_round,"),
        ({"scaar": {"tau": 1}}, ": scaar.tau: cannot be recommended; known: theta, alpha, top_k"),
        (
            {"scaar": {"theta": 2, "alpha": 0}},
            ": scaar.theta: must be in (0, 1] for policy scaar, not 2; "
            "scaar.alpha: must be in (0, 100] for policy scaar, not 0",
        ),
        ({"flare": {"theta": float("nan")}}, ": flare.theta: must be in (0, 1]"),
        ({"flare": {"top_k": 101}}, ": flare.top_k: must be 1 to 100 for policy flare, not 101"),
        ({"flare": {"top_k": 2.5}}, ": flare.top_k: must be a whole number, not 2.5"),
        ({"flare": {"top_k": float("inf")}}, ": flare.top_k: must be a whole number, not inf"),
        ({"ircot": {"theta": 0.5}}, ": ircot.theta: policy ircot has no such setting"),
        ({"no_retrieval": {"top_k": 1}}, ": no_retrieval.top_k: policy no_retrieval has no"),
        ({"scaar": {"theta": "0.5"}}, "[scaar][theta]: Input should be a valid number"),
        ({"scaar": {"top_k": True}}, "[scaar][top_k]: Input should be a valid number"),
        ({"scaar": 0.5}, "[scaar]: Input should be a valid dictionary"),
        (["scaar"], ": Input should be a valid dictionary"),
    ],
)
def test_invalid_recommendations_are_named_with_their_limit(
    value: object, reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        in_environment(monkeypatch, value)
    assert caught.value.message.startswith(f"{VARIABLE}{reported}")


async def test_a_server_is_described_with_them_and_policies_take_them() -> None:
    async with open_tgi_server() as tgi, open_openai_server() as openai:
        for engine, url in (("tgi", tgi.url), ("openai", openai.url)):
            settings = GeneratorSettings.model_validate(
                {"engine": engine, "url": url, "recommended": GIVEN}
            )
            async with open_generator(settings) as generator:
                model = await generator.describe_model()
            assert model.recommended == (
                RecommendedSettings("scaar", theta=0.5, top_k=7),
                RecommendedSettings("ircot", top_k=2),
            )
            requested = PolicyRequest("scaar", PolicyOverrides(top_k=4))
            policy = effective_policy(requested, model)
            assert (policy.theta, policy.top_k) == (0.5, 4)
            sources = dict(policy.sources)
            assert sources["theta"] is SettingSource.MODEL
            assert sources["top_k"] is SettingSource.REQUEST
            assert sources["alpha"] is SettingSource.DEFAULT


async def test_they_go_over_those_of_a_model_folder_one_by_one() -> None:
    settings = GeneratorSettings(model=str(model_folder(LAB_LM)), recommended=GIVEN)
    async with open_generator(settings) as generator:
        reported = {each.policy: each for each in (await generator.describe_model()).recommended}
    assert reported["scaar"] == RecommendedSettings("scaar", theta=0.5, alpha=75.0, top_k=7)
    assert reported["flare"] == RecommendedSettings("flare", theta=0.31)
    assert reported["ircot"] == RecommendedSettings("ircot", top_k=2)


async def test_only_the_description_is_changed() -> None:
    scripted = ScriptedGenerator(lambda request: [("a", -0.1)])
    generator = RecommendingGenerator(scripted, [RecommendedSettings("scaar", theta=0.5)])
    described, below = await generator.describe_model(), await scripted.describe_model()
    assert described.model == below.model
    assert described.capabilities == below.capabilities
