"""Questions that suit an index."""

from scaar.console.examples import LAB_QUESTIONS, examples_of, questions_about
from scaar.core.loop.answer_state import Ports
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.types import MetadataField, Passage, RetrievedPassage
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.console_back_ends import ForgottenCatalog, catalog, open_pages
from scaar.testing.fakes import InMemoryRetriever, ScriptedGenerator, ScriptedScorer


def of_document(source: str, section: str) -> RetrievedPassage:
    metadata = (MetadataField("source", (source,)), MetadataField("section", (section,)))
    return RetrievedPassage(f"{source}{section}", "", "", 1.0, 1, metadata)


def documents(index: str) -> PortsCatalog:
    metadata = (
        MetadataField("source", ("leave.md",)),
        MetadataField("section", ("Leave > Parental leave",)),
    )
    passage = Passage("p", "Leave > Parental leave", "An introduction and overview.", metadata)
    retriever = InMemoryRetriever({index: (passage,)})
    ports = Ports(ScriptedGenerator({}), ScriptedScorer({}), LocalQueryBuilder(), retriever)
    return PortsCatalog(ports, version="1", default_index=index)


def test_questions_are_about_headings_of_two_documents() -> None:
    passages = [
        of_document("leave.md", "Leave > Parental leave"),
        of_document("leave.md", "Leave > Sick leave"),
        of_document("faq.html", "Questions > How do I apply?¶"),
        of_document("long.md", "x" * 100),
    ]
    assert questions_about(passages) == (
        "What is said about “Parental leave”?",
        "How do I apply?",
    )
    assert questions_about([]) == ()


async def test_the_lab_has_questions_about_its_films() -> None:
    found = await examples_of(catalog(), "")
    assert (found.index, found.questions) == ("lab", LAB_QUESTIONS)
    assert found.of_lab


async def test_an_index_of_documents_has_questions_about_them_whatever_its_name() -> None:
    for index in ("handbook", "lab"):
        found = await examples_of(documents(index), "")
        assert found.index == index
        assert found.questions == ("What is said about “Parental leave”?",)
        assert not found.of_lab


async def test_an_index_that_cannot_be_searched_has_no_questions() -> None:
    assert (await examples_of(ForgottenCatalog(), "lab")).questions == ()
    assert (await examples_of(catalog(), "none")).questions == ()


def test_the_page_offers_the_questions_of_the_chosen_index() -> None:
    with open_pages(catalog=catalog()) as client:
        page = client.get("/").text
        other = client.get("/", params={"index": "empty"}).text
        changed = client.get("/ask/examples", params={"index": "lab"}).text
    assert "default (lab)" in page
    assert page.count('<a href="/?index=lab&amp;question=') == len(LAB_QUESTIONS)
    assert "The Velvet Statue" not in other
    assert changed.startswith('<div id="examples">')
    assert "The Velvet Statue" in changed
