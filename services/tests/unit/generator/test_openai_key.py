"""The key of a server of OpenAI's interface: sent, and shown nowhere, whatever fails."""

import logging
import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from scaar.core.errors import CapabilityMissing, ScaarError
from scaar.generator.engines.openai import open_openai_generator
from scaar.lab_servers.openai import open_openai_server
from scaar.lab_servers.openai_failures import Failure

from .openai_servers import PROMPT, settings_of, text_of, write

pytestmark = pytest.mark.slow

KEY = "sk-abcdefgh"
MIDDLE_OF_THE_PROMPT = PROMPT[20:40]


def everything_of(error: BaseException) -> str:
    """All that a log could show of an error and of those that it came from."""
    reported = list[str]()
    for each in causes_of(error):
        reported += [
            *traceback.format_exception(each),
            repr(each),
            repr(each.args),
            repr(vars(each)),
        ]
    return "\n".join(reported)


def causes_of(error: BaseException) -> list[BaseException]:
    """The error and all that it came from."""
    seen = [error]
    for each in seen:
        seen += [other for other in (each.__cause__, each.__context__) if other is not None]
    return seen


async def pauseless(seconds: float) -> None: ...


async def test_the_right_key_opens_the_server() -> None:
    async with (
        open_openai_server(api_key=KEY) as server,
        open_openai_generator(settings_of(server.url, api_key=SecretStr(KEY))) as generator,
    ):
        assert text_of(await write(generator))


async def test_a_key_that_is_changed_in_its_file_is_sent_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(KEY)
    async with (
        open_openai_server(api_key=KEY) as server,
        open_openai_generator(settings_of(server.url, api_key_file=path)) as generator,
    ):
        server.api_key = "sk-after"
        with pytest.raises(CapabilityMissing, match="rejected the request with HTTP 401"):
            await write(generator)
        path.write_text("sk-after")
        assert text_of(await write(generator))


@pytest.mark.parametrize("fields", [{}, {"api_key": SecretStr("sk-other")}])
async def test_a_wrong_key_is_reported_by_its_setting_and_not_quoted(
    fields: dict[str, Any],
) -> None:
    async with open_openai_server(api_key=KEY) as server:  # it quotes the key that it refuses
        with pytest.raises(CapabilityMissing, match="SCAAR_GENERATOR_API_KEY") as caught:
            async with open_openai_generator(settings_of(server.url, **fields)):
                pass
    assert "sk-other" not in everything_of(caught.value)


async def test_no_key_of_the_environment_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with open_openai_server(api_key=KEY) as server:
        with pytest.raises(CapabilityMissing):
            async with open_openai_generator(settings_of(server.url)):
                pass


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
@pytest.mark.parametrize("kind", Failure)
async def test_no_failure_shows_the_key_or_keeps_what_holds_it(
    kind: Failure, openai_api: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with (
        open_openai_server(api_key=KEY, slow_s=3600.0) as server,
        open_openai_generator(
            settings_of(
                server.url, api_key=SecretStr(KEY), openai_api=openai_api, read_timeout_s=2.0
            ),
            sleep=pauseless,
        ) as generator,
    ):
        reported = repr(generator) + repr(vars(generator))
        server.failures.inject(kind)
        causes = list[BaseException]()
        try:
            await write(generator)
        except ScaarError as error:
            causes = causes_of(error)
    reported += "".join(map(everything_of, causes))
    assert KEY not in reported + caplog.text
    assert MIDDLE_OF_THE_PROMPT not in reported
    assert not any(type(each).__module__.startswith("openai") for each in causes)
