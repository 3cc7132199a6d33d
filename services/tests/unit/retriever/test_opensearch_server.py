import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from scaar.core.budget import deadline_in
from scaar.core.errors import BackendUnavailable, DeadlineExceeded, InvalidRequest
from scaar.core.types import RetrieveRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings

NOBODY = ("http://127.0.0.1:1",)


def settings(**given: object) -> RetrieverSettings:
    return RetrieverSettings.model_validate(
        {"engine": "opensearch", "opensearch_urls": NOBODY, **given}
    )


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"opensearch_urls": ()}, "OPENSEARCH_URLS: must name a server"),
        ({"opensearch_urls": ("localhost:9200",)}, "OPENSEARCH_URLS: must be http://host:port or"),
        ({"opensearch_urls": ("http://u:secret@h",)}, "OPENSEARCH_URLS: must hold no user"),
        ({"opensearch_user": "u"}, "OPENSEARCH_PASSWORD: must be given with a user, or its file"),
        ({"opensearch_password": "secret"}, "OPENSEARCH_USER: must name the user of the password"),
        (
            {"opensearch_user": "u", "opensearch_password_file": Path("/no")},
            "OPENSEARCH_PASSWORD_FILE: /no cannot be read",
        ),
        (
            {"opensearch_password": "secret", "opensearch_password_file": Path("/no")},
            "OPENSEARCH_PASSWORD_FILE: does not go with a password",
        ),
        (
            {"opensearch_urls": ("https://h",), "opensearch_ca_file": Path("/no")},
            "OPENSEARCH_CA_FILE: /no is no file of certificates in PEM",
        ),
    ],
)
async def test_wrong_settings_are_told_before_anything_is_asked(
    given: dict[str, object], told: str
) -> None:
    with pytest.raises(InvalidRequest, match=told) as caught:
        async with open_retriever(settings(**given)):
            pass
    assert "secret" not in caught.value.message


async def test_a_server_that_is_not_there_is_told() -> None:
    async with open_retriever(settings()) as retriever:
        with pytest.raises(BackendUnavailable, match="OpenSearch does not answer: Cannot connect"):
            await retriever.retrieve(RetrieveRequest(("a",), 1, "geo"))


async def test_nothing_is_asked_when_no_time_is_left() -> None:
    async with open_retriever(settings()) as retriever:
        with deadline_in(0.01), pytest.raises(DeadlineExceeded, match="no time is left to look up"):
            await retriever.retrieve(RetrieveRequest(("a",), 1, "geo"))


async def test_an_answer_that_is_none_of_opensearchs_is_told() -> None:
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
            with pytest.raises(BackendUnavailable, match="answered what is not understood"):
                await retriever.describe_index("geo")


@pytest.mark.parametrize("prefix", ["", "-a", "A", "a~", "a*"])
def test_a_prefix_that_opensearch_would_not_take_is_refused(prefix: str) -> None:
    with pytest.raises(ValueError, match="opensearch_prefix"):
        settings(opensearch_prefix=prefix)


def test_a_password_is_not_shown() -> None:
    assert "secret" not in repr(settings(opensearch_user="u", opensearch_password="secret"))


def test_the_engine_needs_the_libraries_of_its_own_extra_alone() -> None:
    needed = "import sys, scaar.retriever.opensearch_engine as _"
    others = ("bm25s", "numpy", "Stemmer", "typer", "onnxruntime")
    told = f"{needed}; print([each for each in {others} if each in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-c", told],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("[]\n", "")
