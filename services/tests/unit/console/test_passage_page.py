"""The page of a passage, which the pages of answers link to."""

import pytest

from scaar.core.loop.answer_state import Ports
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.types import MetadataField, Passage
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.console_back_ends import open_pages
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer

SCRIPT = "javascript:alert(1)"


def passage(number: int, text: str, *urls: str) -> Passage:
    metadata = [MetadataField("source", ("hr/leave.md",))]
    metadata.append(MetadataField("section", ("Leave > Parental leave",)))
    metadata.append(MetadataField("url", urls))
    return Passage(f"hr/leave.md#{number}?", "Leave", text, tuple(metadata))


PASSAGES = (
    passage(1, "Before it."),
    passage(2, "<b>16 weeks</b>", "https://example.com/leave", SCRIPT),
    passage(3, "After it."),
)


def catalog() -> PortsCatalog:
    retriever = InMemoryRetriever({"docs": PASSAGES})
    ports = Ports(ScriptedGenerator({}), ScriptedScorer({}), LocalQueryBuilder(), retriever)
    return PortsCatalog(ports, version="1")


def test_a_passage_has_its_place_its_neighbours_and_its_links() -> None:
    with open_pages(catalog=catalog()) as client:
        page = client.get("/passages/docs/hr%2Fleave.md%232%3F").text
    assert "<h1><bdi>hr/leave.md › Leave › Parental leave</bdi></h1>" in page
    assert "&lt;b&gt;16 weeks&lt;/b&gt;" in page
    assert 'Before: <a href="/passages/docs/hr%2Fleave.md%231%3F">' in page
    assert 'After: <a href="/passages/docs/hr%2Fleave.md%233%3F">' in page
    assert '<a href="https://example.com/leave" rel="noreferrer">' in page
    assert f'href="{SCRIPT}' not in page


@pytest.mark.parametrize("path", ["/passages/docs/unknown", "/passages/none/p1"])
def test_a_passage_that_does_not_exist_is_not_found(path: str) -> None:
    with open_pages(catalog=catalog()) as client:
        assert client.get(path).status_code == 404


def test_a_passage_needs_an_orchestrator_that_responds() -> None:
    with open_pages() as client:
        assert client.get("/passages/docs/p1").status_code == 503
