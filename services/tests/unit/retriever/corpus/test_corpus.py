import gzip
import json
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.types import MetadataField, Passage
from scaar.retriever.corpus.corpus import MAX_LINE_BYTES, CorpusFile

GOOD = b'{"id": "a", "title": "T", "text": "x"}\n'


def write(folder: Path, *lines: bytes, name: str = "c.jsonl") -> CorpusFile:
    path = folder / name
    path.write_bytes(b"".join(lines))
    return CorpusFile(path)


def test_passages_come_in_order_and_are_counted(tmp_path: Path) -> None:
    corpus = write(tmp_path, GOOD, b"\n", '{"id": "b", "text": "ü", "more": [1]}'.encode())
    assert list(corpus) == [Passage("a", "T", "x"), Passage("b", "", "ü")]
    assert corpus.passages == 2
    assert corpus.read_bytes == corpus.size_bytes > 0


def test_gzip_is_detected_by_content(tmp_path: Path) -> None:
    corpus = write(tmp_path, gzip.compress(GOOD), name="c.jsonl")
    assert list(corpus) == [Passage("a", "T", "x")]


def test_a_byte_order_mark_and_beirs_id_are_accepted(tmp_path: Path) -> None:
    corpus = write(tmp_path, b'\xef\xbb\xbf{"_id": "a", "title": null, "text": "x"}\r\n')
    assert list(corpus) == [Passage("a", "", "x")]


@pytest.mark.parametrize(
    ("contents", "passage"),
    [
        (r"\"Etna\"\nEtna is a volcano.\nIt is high.", ("Etna", "Etna is a volcano.\nIt is high.")),
        (r"Etna\nEtna is a volcano.", ("Etna", "Etna is a volcano.")),
        (r"\"Weird Al\" Yankovic\nA singer.", ('"Weird Al" Yankovic', "A singer.")),
        (r"A passage without a title.", ("", "A passage without a title.")),
    ],
)
def test_flashrags_contents_are_a_title_in_the_first_line_and_a_text(
    contents: str, passage: tuple[str, str], tmp_path: Path
) -> None:
    corpus = write(tmp_path, b'{"id": "0", "contents": "%s"}\n' % contents.encode())
    assert list(corpus) == [Passage("0", *passage)]


def test_metadata_is_a_text_or_several_for_each_field(tmp_path: Path) -> None:
    carried = b'{"tenant": "acme", "lang": ["en", "de"], "none": null, "nothing": []}'
    line = b'{"id": "a", "text": "x", "metadata": %s}' % carried
    fields = (MetadataField("tenant", ("acme",)), MetadataField("lang", ("en", "de")))
    assert list(write(tmp_path, line)) == [Passage("a", "", "x", fields)]
    left_out = CorpusFile(tmp_path / "c.jsonl", metadata=False, declared=())
    assert list(left_out) == [Passage("a", "", "x")]


def test_control_characters_and_titles_are_left_out_on_request(tmp_path: Path) -> None:
    write(tmp_path, b'{"id": "a", "title": "T\\u0019", "text": "x\\u0000y\\tz"}')
    cleaned = CorpusFile(tmp_path / "c.jsonl", clean=True)
    assert list(cleaned) == [Passage("a", "T ", "x y\tz")]
    untitled = CorpusFile(tmp_path / "c.jsonl", clean=True, titles=False)
    assert list(untitled) == [Passage("a", "", "x y\tz")]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ("[]", "metadata: must be an object, not list"),
        ('"acme"', "metadata: must be an object, not str"),
        ('{"year": 1999}', "metadata.year: must be a text or a list of texts"),
        ('{"lang": ["en", 1]}', "metadata.lang: must be a text or a list of texts"),
        ('{"lang": {"en": 1}}', "metadata.lang: must be a text or a list of texts"),
        ('{"lang": ""}', "metadata.lang[0]: must have 1 to 256 characters, not 0"),
        ('{"Lang": "en"}', "metadata: must be a letter a to z, then at most 63 of a-z, 0-9"),
        ('{"lang": "a\\u0000"}', "metadata.lang[0]: holds the control character U+0000 at 1"),
        ('{"url": "x"}', "metadata.url: is not a declared field of the index (lang), in pass"),
    ],
)
def test_invalid_metadata_is_reported_with_line_and_field(
    tmp_path: Path, metadata: str, message: str
) -> None:
    line = '{"id": "b", "text": "x", "metadata": %s}' % metadata  # noqa: UP031
    corpus = write(tmp_path, GOOD, line.encode())
    corpus.declared = ("lang",)
    with pytest.raises(InvalidRequest) as caught:
        list(corpus)
    assert caught.value.message.startswith(f"c.jsonl line 2, {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"title": "T", "text": "x"}', "c.jsonl line 2, id: is missing"),
        (b'{"id": "", "text": "x"}', "c.jsonl line 2, id: must not be empty"),
        (b'{"id": 7, "text": "x"}', "c.jsonl line 2, id: must be a string, not int"),
        (b'{"id": "b"}', "c.jsonl line 2, text: is missing"),
        (b'{"id": "b", "text": "  "}', "c.jsonl line 2, text: must not be empty"),
        (b'{"id": "b", "text": "a\\u0000"}', "line 2, text: contains the control character U+0000"),
        (b'{"id": "b", "text": "\\ud800"}', "line 2, text: contains the unpaired surrogate"),
        (b'{"id": "a", "text": "x"}', "line 2, id: 'a' is already the id of line 1"),
        (b'{"id": "b", "text": ', "c.jsonl line 2: is not JSON"),
        (b'["b", "x"]', "c.jsonl line 2: is not a JSON object"),
        (b"[" * 100_000, "c.jsonl line 2: is not JSON"),
        (b"9" * 10_000, "c.jsonl line 2: is not"),
        (b'{"id": "b", "text": "\xff"}', "c.jsonl line 2: is not UTF-8 at byte 21"),
        (
            json.dumps({"id": "b", "text": "x" * 1_048_577}).encode(),
            "line 2, text: must have at most 1,048,576 characters, not 1,048,577",
        ),
        (b"x" * (MAX_LINE_BYTES + 1), "line 2: must have at most 16,777,216 bytes"),
    ],
    ids=range(15),
)
def test_an_invalid_line_is_reported_with_file_line_and_field(
    tmp_path: Path, line: bytes, message: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        list(write(tmp_path, GOOD, line))
    assert message in caught.value.message


def test_a_passage_of_a_megabyte_is_accepted_even_when_escaped(tmp_path: Path) -> None:
    text = "\U0001f600" * (1_048_576)
    corpus = write(tmp_path, json.dumps({"id": "a", "text": text}).encode())
    assert [len(passage.text) for passage in corpus] == [1_048_576]


def test_a_truncated_gzip_file_is_reported_with_its_line(tmp_path: Path) -> None:
    lines = b"".join(b'{"id": "%d", "text": "word %d"}\n' % (n, n * n) for n in range(20_000))
    corpus = write(tmp_path, gzip.compress(lines)[:-2_000], name="c.jsonl.gz")
    with pytest.raises(InvalidRequest, match=r"c.jsonl.gz line \d+: the gzip file is damaged"):
        list(corpus)


@pytest.mark.parametrize("content", [b"\x1f\x8bnot gzip at all", b"plain text"])
def test_what_is_not_gzip_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidRequest, match="gzip"):
        list(write(tmp_path, content, name="c.jsonl.gz"))


@pytest.mark.parametrize("content", [b"", b"\n \n", gzip.compress(b"", mtime=0)])
def test_a_corpus_without_passages_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InvalidRequest, match="contains no passage"):
        list(write(tmp_path, content))


def test_a_missing_file_is_reported_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"nowhere.jsonl cannot be read: No such file"):
        list(CorpusFile(tmp_path / "nowhere.jsonl"))
    with pytest.raises(InvalidRequest, match="Is a directory"):
        list(CorpusFile(tmp_path))


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        (b"Etna is a volcano.\n", "notes.txt", "line 1: is not JSON"),
        (b"id,title,text\n1,Etna,A volcano.\n", "passages.csv", "line 1: is not JSON"),
        (b'[{"id": "1", "text": "x"}]', "passages.json", "line 1: is not a JSON object"),
        (b"1\tA volcano.\n", "passages.tsv", "line 1: must have 3 tab-separated"),
        (b"1\tA volcano.\tEtna\n", "passages.tsv", "line 1: must be id, text, title in the first"),
    ],
)
def test_a_file_of_another_layout_is_answered_with_a_line_of_each(
    tmp_path: Path, content: bytes, name: str, problem: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        list(write(tmp_path, content, name=name))
    assert caught.value.message.startswith(f"{name} {problem}")
    assert '{"id": "1", "title": "Etna", "text": "Etna is a volcano."}' in caught.value.message
    assert "id<TAB>text<TAB>title, such as 1<TAB>Etna is a volcano." in caught.value.message


def test_a_wrong_line_among_passages_is_not_of_another_layout(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest) as caught:
        list(write(tmp_path, GOOD, b"oops\n"))
    assert "<TAB>" not in caught.value.message
