"""The key of a TGI server: taken from where it is set, sent, and shown nowhere."""

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    InvalidRequest,
    NotFound,
    ScaarError,
)
from scaar.generator.engines.tgi import open_tgi_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab_servers.tgi import open_tgi_server
from scaar.lab_servers.tgi_failures import Failure

from .tgi_servers import text_of, write

pytestmark = pytest.mark.slow

KEY = "hf_abcdefgh"


def settings(url: str, **fields: Any) -> GeneratorSettings:
    return GeneratorSettings(**{"engine": "tgi", "url": url, **fields})


def everything_of(error: BaseException) -> str:
    """All that a log could show of an error and of those that it came from."""
    reported, seen = [], [error]
    for each in seen:
        reported += [
            *traceback.format_exception(each),
            repr(each),
            repr(each.args),
            repr(vars(each)),
        ]
        seen += [other for other in (each.__cause__, each.__context__) if other is not None]
    return "\n".join(reported)


@asynccontextmanager
async def not_http() -> AsyncIterator[str]:
    """A server that answers with what is no HTTP; its URL."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def pauseless(seconds: float) -> None: ...


async def test_the_right_key_opens_the_server() -> None:
    async with (
        open_tgi_server(api_key=KEY) as server,
        open_tgi_generator(settings(server.url, api_key=SecretStr(KEY))) as generator,
    ):
        assert text_of(await write(generator))


async def test_a_key_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    async with (
        open_tgi_server(api_key=KEY) as server,
        open_tgi_generator(settings(server.url, api_key_file=path)) as generator,
    ):
        assert text_of(await write(generator))


async def test_a_key_that_is_changed_in_its_file_is_sent_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("hf_before")
    async with (
        open_tgi_server(api_key=KEY) as server,
        open_tgi_generator(settings(server.url, api_key_file=path), sleep=pauseless) as generator,
    ):
        with pytest.raises(CapabilityMissing, match="HTTP 401"):
            await write(generator)
        path.write_text(KEY)
        assert text_of(await write(generator))
        path.write_text("no\nkey")
        assert text_of(await write(generator))
        path.unlink()
        assert text_of(await write(generator))


@pytest.mark.parametrize("fields", [{}, {"api_key": SecretStr("hf_other")}])
async def test_a_wrong_key_is_reported_by_its_setting(fields: dict[str, Any]) -> None:
    async with (
        open_tgi_server(api_key=KEY) as server,
        open_tgi_generator(settings(server.url, **fields), sleep=pauseless) as generator,
    ):
        with pytest.raises(CapabilityMissing, match=r"SCAAR_GENERATOR_API_KEY \(HTTP 401\)"):
            await write(generator)


@pytest.mark.parametrize("text", ["", " \n", "hf_a\nhf_b", "hf_ü", "hf_\x00", "x" * 10_001])
async def test_an_invalid_key_is_rejected_and_not_quoted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(InvalidRequest, match="SCAAR_GENERATOR_API_KEY_FILE: must ") as caught:
        async with open_tgi_generator(settings("http://127.0.0.1:1", api_key_file=path)):
            pass
    assert "hf_" not in everything_of(caught.value)


async def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"key\.txt: the API key file cannot be read"):
        async with open_tgi_generator(
            settings("http://127.0.0.1:1", api_key_file=tmp_path / "key.txt")
        ):
            pass


@pytest.mark.parametrize("kind", Failure)
async def test_no_failure_shows_the_key(kind: Failure, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with (
        open_tgi_server(api_key=KEY, fail=[kind]) as server,
        open_tgi_generator(
            settings(server.url, api_key=SecretStr(KEY), read_timeout_s=0.3), sleep=pauseless
        ) as generator,
    ):
        reported = repr(generator)
        try:
            await write(generator)
        except ScaarError as error:
            reported += everything_of(error)
    assert KEY not in reported + caplog.text


async def test_a_server_without_http_is_reported_without_the_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with not_http() as url:
        with pytest.raises(BackendUnavailable, match="does not answer") as caught:
            async with open_tgi_generator(settings(url, api_key=SecretStr(KEY)), sleep=pauseless):
                pass
    assert KEY not in everything_of(caught.value) + caplog.text
