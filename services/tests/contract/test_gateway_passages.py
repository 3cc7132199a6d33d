"""``/passages/{index}/{id}``, and the links of citations to it."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import Ports
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    MetadataField,
    Passage,
    PassagesRetrieved,
    RetrievedPassage,
    SentenceAccepted,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.gateways import TEXT, cited_answer, gateway_before

CHAT = {"model": "scaar", "messages": [{"role": "user", "content": "Where was Ada born?"}]}
PAGE = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def document_passage(number: int, text: str, **fields: str) -> Passage:
    metadata = {"source": "lives/ada.md", "section": "Ada > Birth", **fields}
    return Passage(
        f"lives/{number} ü?#%",
        "Ada > Birth",
        text,
        tuple(MetadataField(name, (value,)) for name, value in metadata.items()),
    )


PASSAGES = (
    document_passage(1, "Ada was born in London."),
    document_passage(2, "It was <b>1815</b> & cold.", page="7"),
    document_passage(3, "Other file.", source="b.md"),
)


@asynccontextmanager
async def reached(
    answerer: ScriptedAnswerer | None = None, **settings: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    ports = Ports(
        ScriptedGenerator(lambda request: []),
        ScriptedScorer({}),
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )
    catalog = PortsCatalog(ports, version="1", default_index="lab")
    served = answerer or ScriptedAnswerer(document_answer)
    async with (
        gateway_before(served, catalog, **settings) as url,
        httpx2.AsyncClient(base_url=url, timeout=20) as client,
    ):
        yield client


def document_answer(request: AnswerRequest) -> Iterator[AnswerEvent]:
    """Yield an answer whose first sentence two passages of one section support."""
    read = tuple(
        RetrievedPassage(passage.id, passage.title, passage.text, 1.0, rank, passage.metadata)
        for rank, passage in enumerate((PASSAGES[0], replace(PASSAGES[0], id="other")), 1)
    )
    names = tuple(passage.id for passage in read)
    for event in cited_answer(request):
        if isinstance(event, PassagesRetrieved):
            event = replace(event, passages=read)
        if isinstance(event, SentenceAccepted):
            supporting = names if event.sentence == 0 else ()
            accepted = replace(event.accepted, passage_ids=names, supporting_passage_ids=supporting)
            event = replace(event, accepted=accepted)
        if isinstance(event, AnswerFinished):
            sentences = tuple(
                replace(
                    sentence,
                    passage_ids=names,
                    supporting_passage_ids=names if number == 0 else (),
                )
                for number, sentence in enumerate(event.answer.sentences)
            )
            passages = (PASSAGES[0], replace(PASSAGES[0], id="other"))
            event = AnswerFinished(replace(event.answer, sentences=sentences, passages=passages))
        yield event


def path_of(passage: Passage) -> str:
    return f"/passages/lab/{quote(passage.id, safe='')}"


async def test_a_passage_has_its_place_in_its_document_and_its_neighbours() -> None:
    async with reached() as client:
        response = await client.get(path_of(PASSAGES[1]))
    found = response.json()
    assert found["index"] == "lab"
    assert found["passage"] == {
        "id": "lives/2 ü?#%",
        "title": "Ada > Birth",
        "text": "It was <b>1815</b> & cold.",
        "file": "lives/ada.md",
        "headings": ["Ada", "Birth"],
        "page": "7",
        "metadata": {"source": ["lives/ada.md"], "section": ["Ada > Birth"], "page": ["7"]},
    }
    assert found["previous"]["id"] == PASSAGES[0].id
    assert found["next"] is None


async def test_a_browser_gets_a_page_that_runs_nothing_of_the_text() -> None:
    async with reached() as client:
        response = await client.get(path_of(PASSAGES[1]), headers=PAGE)
        before = response.text.partition('<a href="')[2].partition('"')[0]
        neighbour = await client.get(str(response.url.join(before)), headers=PAGE)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<h1>lives/ada.md › Ada › Birth, page 7</h1>" in response.text
    assert "It was &lt;b&gt;1815&lt;/b&gt; &amp; cold." in response.text
    assert "<p>Ada was born in London.</p>" in neighbour.text


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("/passages/lab/none", 404, "no passage 'none' in the index 'lab'"),
        ("/passages/films/none", 404, "no index 'films'"),
        ("/passages/lab/" + "x" * 513, 400, "id: must have 1 to 512 characters, not 513"),
        ("/passages/a%20b/none", 400, "index: "),
        ("/passages/lab/", 400, "id: must have 1 to 512 characters, not 0"),
    ],
)
async def test_a_passage_that_is_not_there_is_an_error_in_one_line(
    path: str, status: int, message: str
) -> None:
    async with reached() as client:
        for headers in ({}, PAGE):
            response = await client.get(path, headers=headers)
            assert response.status_code == status
            assert message in response.json()["error"]["message"]
            assert "\n" not in response.json()["error"]["message"]


async def test_a_passage_needs_the_token_of_its_caller() -> None:
    async with reached(require_token=True) as client:
        assert (await client.get(path_of(PASSAGES[0]))).status_code == 401


async def test_a_citation_links_to_its_passage_at_the_host_that_was_asked() -> None:
    async with reached() as client:
        answer = (await client.post("/v1/chat/completions", json=CHAT)).json()
        (annotation,) = answer["choices"][0]["message"]["annotations"]
        cited = annotation["url_citation"]
        page = await client.get(cited["url"], headers=PAGE)
    assert cited["title"] == "lives/ada.md › Ada › Birth"
    assert cited["url"] == f"{str(client.base_url).rstrip('/')}{path_of(PASSAGES[0])}"
    assert "Ada was born in London." in page.text


async def test_a_list_of_sources_has_each_place_once_and_the_sentences_without_support() -> None:
    async with reached(public_url="https://a.example/s", citations="markdown") as client:
        whole = (await client.post("/v1/chat/completions", json=CHAT)).json()
        stream = await client.post("/v1/chat/completions", json={**CHAT, "stream": True})
    text = whole["choices"][0]["message"]["content"]
    link = f"https://a.example/s{path_of(PASSAGES[0])}"
    assert text == (
        f"{TEXT}\n\nSources:\n\n1. [lives/ada.md › Ada › Birth]({link})\n\n"
        "No passage seems to support:\n\n- So the answer is London."
    )
    assert "No passage seems to support" in stream.text
    assert whole["scaar"]["unsupported"] == [{"start_index": 24, "end_index": 48}]
    assert [passage["supports"] for passage in whole["scaar"]["passages"]] == [True, True]
