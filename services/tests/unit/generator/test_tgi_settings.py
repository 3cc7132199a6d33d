"""Settings of engines that are servers: what is wrong is named, and no key is shown."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from scaar.core.errors import InvalidRequest
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings

URL = "http://127.0.0.1:8080"
KEY = "hf_secret"


def refused(monkeypatch: pytest.MonkeyPatch, **variables: str) -> list[str]:
    """What is told of these variables of the environment."""
    for name, value in variables.items():
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
    with pytest.raises(InvalidRequest) as caught:
        GeneratorSettings.read()
    assert KEY not in caught.value.message
    return [str(violation) for violation in caught.value.violations]


def test_an_engine_that_is_a_server_needs_its_url(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(monkeypatch, engine="tgi") == ["SCAAR_GENERATOR_URL: must be set for engine tgi"]


async def test_that_is_told_of_settings_that_were_not_read_too() -> None:
    with pytest.raises(InvalidRequest, match="SCAAR_GENERATOR_URL"):
        async with open_generator(GeneratorSettings(engine="tgi")):
            pass


def test_what_is_for_servers_is_refused_with_another_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = refused(monkeypatch, url=URL, api_key=KEY, api_key_file="/key", prompt_profile="lab")
    assert [each.partition(":")[0] for each in told] == [
        "SCAAR_GENERATOR_URL",
        "SCAAR_GENERATOR_API_KEY",
        "SCAAR_GENERATOR_API_KEY_FILE",
        "SCAAR_GENERATOR_PROMPT_PROFILE",
    ]
    assert told[0].endswith("is for servers (tgi, openai) only, and the engine is onnx")


def test_a_key_is_given_in_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(monkeypatch, engine="tgi", url=URL, api_key=KEY, api_key_file="/key") == [
        "SCAAR_GENERATOR_API_KEY_FILE: must not be set beside api_key"
    ]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8080",
        "ftp://127.0.0.1",
        "http://",
        "http://host:port",
        "http://[::1",
        f"http://me:{KEY}@host",
        f"http://host?key={KEY}",
        f"http://host#{KEY}",
    ],
)
def test_a_url_that_is_none_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    (told,) = refused(monkeypatch, engine="tgi", url=url)
    assert told.startswith("SCAAR_GENERATOR_URL: must ")


@pytest.mark.parametrize("url", [f"{URL}/", "https://tgi.example", "http://[::1]:80/tgi"])
def test_a_url_stands_without_its_last_slash(url: str) -> None:
    assert GeneratorSettings(engine="tgi", url=url).url == url.rstrip("/")


def test_a_profile_that_there_is_not_is_refused_with_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (told,) = refused(monkeypatch, engine="tgi", url=URL, prompt_profile="mine")
    assert told.startswith("SCAAR_GENERATOR_PROMPT_PROFILE: there is no profile 'mine'; known: lab")


@pytest.mark.parametrize("name", ["connect_timeout_s", "read_timeout_s"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "3601", "soon"])
def test_a_time_out_of_range_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    (told,) = refused(monkeypatch, engine="tgi", url=URL, **{name: value})
    assert told.startswith(f"SCAAR_GENERATOR_{name.upper()}: ")


def test_a_key_is_not_shown() -> None:
    settings = GeneratorSettings(engine="tgi", url=URL, api_key=SecretStr(KEY))
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == KEY
    assert (
        KEY not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    )


def test_a_model_is_a_folder_or_a_name() -> None:
    settings = GeneratorSettings.read(model=Path("/models/lm"))
    assert settings.model == "/models/lm"
    assert GeneratorSettings.read(model="org/name").model == "org/name"
