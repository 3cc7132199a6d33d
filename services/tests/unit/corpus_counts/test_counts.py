"""Counts of entities in a file, compared with counts by reading the texts."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import DataCorrupt, InvalidRequest, NotFound
from scaar.corpus_counts.counts import CorpusCountsFile, open_corpus_counts
from scaar.corpus_counts.words import counted_words
from scaar.corpus_counts.writer import CountsWriter

WORDS = ("Ada", "ada", "LOVELACE", "Ada's", "of", "1815,", "Zoë", "ß", "東京", "né(e)", "...")
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=5)
entities = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)


def written(parts: Sequence[Sequence[str]]) -> bytes:
    writer, file = CountsWriter(), io.BytesIO()
    for each in parts:
        writer.add(*each)
    digest = writer.write(file)
    header = json.loads(file.getvalue().partition(b"\n")[0])
    assert (header["sha256"], header["texts"]) == (digest, len(parts))
    assert (header["words"], header["vocabulary"]) == (writer.words, writer.vocabulary)
    return file.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("counts")


def opened(folder: Path, parts: Sequence[Sequence[str]]) -> CorpusCountsFile:
    path = folder / "a.counts"
    # A mapped file is replaced, not changed.
    path.unlink(missing_ok=True)
    path.write_bytes(written(parts))
    return open_corpus_counts(path)


def places(text: str, entity: str) -> list[int]:
    words, wanted = counted_words(text), counted_words(entity)
    return [at for at in range(len(words)) if wanted and words[at : at + len(wanted)] == wanted]


@given(given=texts, one=entities, other=entities, window=st.integers(1, 14))
def test_counts_are_those_of_reading_the_texts(
    folder: Path, given: list[str], one: str, other: str, window: int
) -> None:
    counts = opened(folder, [(text,) for text in given])
    assert counts.count_of(one) == sum(len(places(text, one)) for text in given)
    expected = sum(
        abs(a - b) <= window
        for text in given
        for a in places(text, one)
        for b in places(text, other)
    )
    assert counts.together(one, other, window) == expected
    assert counts.together(other, one, window) == expected


@given(given=st.lists(st.text(max_size=40), max_size=4), at=st.integers(0, 40))
def test_any_text_is_counted_as_the_entity_that_it_is(
    folder: Path, given: list[str], at: int
) -> None:
    counts = opened(folder, [(text,) for text in given])
    for text in given:
        assert (counts.count_of(text) > 0) is bool(counted_words(text))
        words = counted_words(text)
        if at < len(words):
            assert counts.count_of(words[at]) >= 1


@pytest.mark.parametrize(
    ("written_as", "asked"),
    [
        ("Ada Lovelace", "ADA   lovelace"),
        ("May 12, 1990.", "may 12 1990"),
        ("Ada Lovelace's father", "Ada Lovelace"),
        ("«Zoë»", "ZOË"),
        ("Zoe\u0308", "Zoë"),
        ("STRASSE", "straße"),
        ("東京都", "東京"),
        ("\uff21\uff44\uff41", "Ada"),
    ],
)
def test_case_punctuation_spacing_and_composition_do_not_matter(
    folder: Path, written_as: str, asked: str
) -> None:
    counts = opened(folder, [("x", written_as)])
    assert counts.count_of(asked) == 1
    assert counts.together(asked, "x", 1) == 0
    assert counts.together(asked, "x", 2) == 1


def test_an_entity_lies_within_one_part_of_a_text(folder: Path) -> None:
    counts = opened(folder, [("Ada", "Lovelace"), ("Ada",), ("Lovelace",)])
    assert counts.count_of("Ada Lovelace") == 0
    assert counts.together("Ada", "Lovelace", 1000) == 1, "of one text only"


def test_the_window_ends_at_the_last_word_that_it_includes(folder: Path) -> None:
    counts = opened(folder, [("Ada " + "x " * 999 + "Paris Rome",)])
    assert counts.together("Ada", "Paris", 1000) == 1
    assert counts.together("Ada", "Rome", 1000) == 0


def test_an_empty_corpus_and_an_entity_without_words_count_nothing(folder: Path) -> None:
    assert opened(folder, []).count_of("Ada") == 0
    assert opened(folder, [()]).together("Ada", "Ada", 5) == 0
    assert opened(folder, [("...",)]).count_of("...") == 0


def test_the_digest_is_that_of_the_counts(folder: Path) -> None:
    first = opened(folder, [("Ada sang.",)]).digest
    assert opened(folder, [("ada  sang",)]).digest == first
    assert opened(folder, [("Ada", "sang.")]).digest != first
    assert opened(folder, [("Ada sings.",)]).digest != first


async def test_the_port_counts_several_entities_and_pairs_at_once(folder: Path) -> None:
    counts = opened(folder, [("Ada met Byron. Ada sang.",), ("Byron",)])
    assert await counts.count(["Ada", "Byron", "Zoë"]) == (2, 2, 0)
    pairs = [("Ada", "Byron"), ("Byron", "Zoë")]
    assert await counts.count_together(pairs, window=10) == (2, 0)
    assert await counts.count([]) == ()


def test_a_corpus_with_too_many_words_is_refused() -> None:
    writer = CountsWriter(max_positions=6)
    writer.add("one two three")
    with pytest.raises(InvalidRequest, match="must have at most 6 words and parts of texts"):
        writer.add("four five")


CONTENT = written([("Ada sang in Paris.",), ("Byron sang.",)])
HEADER, BODY = CONTENT.split(b"\n", 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{}\n", "is no file of corpus counts"),
        (b"\x00" * 5000, "is no file of corpus counts"),
        (HEADER, "is no file of corpus counts"),
        (CONTENT.replace(b'"format": 1', b'"format": 2'), "is of format 2; this scaar reads 1"),
        (CONTENT.replace(b'"little"', b'"big"   '), "has numbers of byte order 'big'"),
        (CONTENT.replace(b'"texts": 2', b'"texts":-2'), "texts must be a whole number, not -2"),
        (CONTENT.replace(b'"sha256"', b'"sha255"'), "sha256 must be a string, not None"),
        (CONTENT.replace(b'"texts": 2', b'"texts": 3'), r"is damaged: it has \d+ bytes instead"),
        (CONTENT[:-1], r"is damaged: it has \d+ bytes instead of \d+"),
        (CONTENT + b"x", r"is damaged: it has \d+ bytes instead of \d+"),
        (CONTENT[:-1] + b"x", "is damaged: its content does not have the digest sha256"),
    ],
)
def test_a_damaged_file_is_refused_with_what_is_wrong_and_what_to_do(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "a.counts"
    path.write_bytes(content)
    with pytest.raises(DataCorrupt, match=rf"a\.counts: .*{message}.*scaar corpus count"):
        open_corpus_counts(path)


@given(at=st.integers(0, len(CONTENT) - 1), byte=st.integers(1, 255))
def test_a_file_with_one_changed_byte_is_refused(folder: Path, at: int, byte: int) -> None:
    changed = bytearray(CONTENT)
    changed[at] ^= byte
    path = folder / "changed.counts"
    path.unlink(missing_ok=True)
    path.write_bytes(changed)
    try:
        counts = open_corpus_counts(path)
    except DataCorrupt:
        return
    # White space of the header has no meaning.
    assert at < len(HEADER)
    assert counts.count_of("sang") == 2


def test_a_file_that_is_missing_or_empty_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"corpus counts .* cannot be read: No such file"):
        open_corpus_counts(tmp_path / "missing.counts")
    (tmp_path / "empty.counts").touch()
    with pytest.raises(DataCorrupt, match="is no file of corpus counts"):
        open_corpus_counts(tmp_path / "empty.counts")
