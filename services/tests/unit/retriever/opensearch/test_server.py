import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, InvalidRequest
from scaar.core.loop.budget import deadline_in
from scaar.core.types import RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

NOBODY = ("http://127.0.0.1:1",)


def settings(**given: object) -> RetrieverSettings:
    return RetrieverSettings.model_validate(
        {"engine": "opensearch", "opensearch_urls": NOBODY, **given}
    )


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ({"opensearch_urls": ()}, "OPENSEARCH_URLS: must contain the URL of a server"),
        ({"opensearch_urls": ("localhost:9200",)}, "OPENSEARCH_URLS: must be http://host:port or"),
        ({"opensearch_urls": ("http://u:secret@h",)}, "OPENSEARCH_URLS: must have no user"),
        ({"opensearch_user": "u"}, "OPENSEARCH_PASSWORD: must be set if a user is set"),
        ({"opensearch_password": "secret"}, "OPENSEARCH_USER: must be set if a password is set"),
        (
            {"opensearch_user": "u", "opensearch_password_file": Path("/no")},
            "OPENSEARCH_PASSWORD_FILE: /no cannot be read",
        ),
        (
            {"opensearch_password": "secret", "opensearch_password_file": Path("/no")},
            "OPENSEARCH_PASSWORD_FILE: must not be set together with",
        ),
        (
            {"opensearch_urls": ("https://h",), "opensearch_ca_file": Path("/no")},
            "OPENSEARCH_CA_FILE: /no is not a file of certificates in PEM",
        ),
    ],
)
async def test_invalid_settings_are_reported_before_any_request(
    given: dict[str, object], reported: str
) -> None:
    with pytest.raises(InvalidRequest, match=reported) as caught:
        async with open_retriever(settings(**given)):
            pass
    assert "secret" not in caught.value.message


async def test_an_unreachable_server_is_reported() -> None:
    async with open_retriever(settings()) as retriever:
        with pytest.raises(BackendUnavailable, match="OpenSearch does not respond: Cannot connect"):
            await retriever.retrieve(RetrieveRequest(("a",), 1, "geo"))


async def test_no_request_is_sent_when_no_time_remains() -> None:
    async with open_retriever(settings()) as retriever:
        with deadline_in(0.01), pytest.raises(DeadlineExceeded, match="no time remains to look up"):
            await retriever.retrieve(RetrieveRequest(("a",), 1, "geo"))


async def test_a_response_that_is_not_from_opensearch_is_reported() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
        writer.write(b"content-length: 5\r\nconnection: close\r\n\r\n{nope")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        urls = (f"http://127.0.0.1:{port}",)
        async with open_retriever(settings(opensearch_urls=urls)) as retriever:
            with pytest.raises(BackendUnavailable, match="sent an invalid response"):
                await retriever.describe_index("geo")


@pytest.mark.parametrize("prefix", ["", "-a", "A", "a~", "a*"])
def test_a_prefix_that_opensearch_rejects_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="opensearch_prefix"):
        settings(opensearch_prefix=prefix)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(settings(opensearch_user="u", opensearch_password="secret"))


def test_the_engine_needs_only_the_libraries_of_its_extra() -> None:
    needed = "import sys, scaar.retriever.opensearch.engine as _"
    others = ("bm25s", "numpy", "Stemmer", "typer", "onnxruntime")
    reported = f"{needed}; print([each for each in {others} if each in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", reported],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
