from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.words import split_words
from scaar.core.types import MetadataField
from scaar.retriever.documents.document import Block, Document
from scaar.retriever.documents.splitting import pack, split_document
from scaar.retriever.validation import passage_violations

TEXTS = st.lists(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(["one", "Two.", "3.5", "東京です。", "“end”?", "x\ny"])).map(
            " ".join
        ),
    ),
    max_size=8,
)


def words_of(text: str) -> str:
    """The words of a text, without the spaces that passages may have in other places."""
    return "".join(text.split())


@given(TEXTS, st.integers(1, 20))
def test_no_word_is_lost_repeated_or_moved_and_sizes_are_bounded(
    texts: list[str], words: int
) -> None:
    document = Document(tuple(Block(text) for text in texts))
    passages = list(split_document(document, "a.md", name="a", words=words))
    for passage in passages:
        assert 1 <= len(split_words(passage.text)) <= words
        assert not passage_violations(passage)
    kept = (character for text in texts for character in text if not _is_removed(character))
    assert words_of(" ".join(each.text for each in passages)) == words_of("".join(kept))
    assert passages == list(split_document(document, "a.md", name="a", words=words))


def _is_removed(character: str) -> bool:
    return character.isspace() or ord(character) < 32 or 127 <= ord(character) < 160


def test_passages_end_with_paragraphs_else_sentences_else_words() -> None:
    blocks = ["One two.", "Three four five.", "Six seven. Eight nine ten. " + "X " * 7]
    assert list(pack(blocks, 5)) == [
        "One two. Three four five.",
        "Six seven. Eight nine ten.",
        "X X X X X",
        "X X",
    ]


def test_a_long_run_of_characters_is_cut() -> None:
    assert [len(each) for each in pack(["a" * 600], 1)] == [256, 256, 88]


def test_titles_and_sections_come_from_headings() -> None:
    document = Document(
        (Block("One.", ("Guide", "Part")), Block("Two.", ("Guide",)), Block("Three.", page=2)),
        title="Guide",
    )
    first, second, third = split_document(document, "g.pdf", url="https://a.example/g.pdf")
    assert [each.title for each in (first, second, third)] == ["Guide > Part", "Guide", "Guide"]
    url = MetadataField("url", ("https://a.example/g.pdf",))
    source = MetadataField("source", ("g.pdf",))
    assert first.metadata == (source, MetadataField("section", ("Guide > Part",)), url)
    assert third.metadata == (source, MetadataField("page", ("2",)), url)


def test_an_id_depends_on_source_and_text_alone() -> None:
    (before,) = split_document(Document((Block("Text."),), title="A"), "a.md")
    (moved,) = split_document(Document((Block("Text.", ("B",)),), title="C"), "a.md")
    (other,) = split_document(Document((Block("Text."),), title="A"), "b.md")
    assert before.id == moved.id != other.id
