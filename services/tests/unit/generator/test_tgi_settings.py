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
    """Return the errors of these environment variables."""
    for name, value in variables.items():
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)
    with pytest.raises(InvalidRequest) as caught:
        GeneratorSettings.read()
    assert KEY not in caught.value.message
    return [str(violation) for violation in caught.value.violations]


def test_an_engine_that_is_a_server_needs_its_url(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(monkeypatch, engine="tgi") == ["SCAAR_GENERATOR_URL: must be set for engine tgi"]


async def test_incompatible_settings_are_reported_without_reading_them() -> None:
    with pytest.raises(InvalidRequest, match="SCAAR_GENERATOR_URL"):
        async with open_generator(GeneratorSettings(engine="tgi")):
            pass


def test_server_settings_are_rejected_with_another_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reported = refused(monkeypatch, url=URL, api_key=KEY, api_key_file="/key", prompt_profile="lab")
    assert [each.partition(":")[0] for each in reported] == [
        "SCAAR_GENERATOR_URL",
        "SCAAR_GENERATOR_API_KEY",
        "SCAAR_GENERATOR_API_KEY_FILE",
        "SCAAR_GENERATOR_PROMPT_PROFILE",
    ]
    assert reported[0].endswith("requires engine tgi or openai, but the engine is onnx")


def test_a_key_is_given_in_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused(monkeypatch, engine="tgi", url=URL, api_key=KEY, api_key_file="/key") == [
        "SCAAR_GENERATOR_API_KEY_FILE: must not be set together with api_key"
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
def test_an_invalid_url_is_rejected_and_not_quoted(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    (reported,) = refused(monkeypatch, engine="tgi", url=url)
    assert reported.startswith("SCAAR_GENERATOR_URL: must ")


@pytest.mark.parametrize("url", [f"{URL}/", "https://tgi.example", "http://[::1]:80/tgi"])
def test_the_trailing_slash_of_a_url_is_removed(url: str) -> None:
    assert GeneratorSettings(engine="tgi", url=url).url == url.rstrip("/")


def test_an_unknown_profile_is_rejected_with_the_known_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (reported,) = refused(monkeypatch, engine="tgi", url=URL, prompt_profile="mine")
    assert reported.startswith(
        "SCAAR_GENERATOR_PROMPT_PROFILE: there is no profile 'mine'; known: lab"
    )


@pytest.mark.parametrize("name", ["connect_timeout_s", "read_timeout_s"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "3601", "soon"])
def test_a_time_out_of_range_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    (reported,) = refused(monkeypatch, engine="tgi", url=URL, **{name: value})
    assert reported.startswith(f"SCAAR_GENERATOR_{name.upper()}: ")


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
