import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scaar.cli.index.corpus import app
from scaar.core.errors import InvalidRequest
from scaar.core.types import MetadataField, Passage
from scaar.retriever.corpus.corpus import CorpusFile

DOCUMENTS = [
    {"id": "a", "title": "Etna", "text": "Etna is a\nvolcano in Italy."},
    {"id": "b", "title": "Fuji", "text": "Mount Fuji"},
]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("\n".join(map(json.dumps, DOCUMENTS)))
    return path


def split(documents: Path, out: Path, *options: str) -> str:
    arguments = ["split", "--documents", str(documents), "--out", str(out), *options]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", ["passages.jsonl", "passages.jsonl.gz"])
def test_documents_are_split_into_a_file_for_an_index(
    documents: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / name
    output = split(documents, out, "--words", "4")
    assert output == f"{out}: 3 passages of 2 documents\n"
    assert list(CorpusFile(out)) == [
        Passage("a-1", "Etna", "Etna is a volcano"),
        Passage("a-2", "Etna", "in Italy."),
        Passage("b-1", "Fuji", "Mount Fuji"),
    ]
    assert (out.read_bytes()[:2] == b"\x1f\x8b") is name.endswith(".gz")


def test_passages_keep_the_metadata_of_their_document(documents: Path, tmp_path: Path) -> None:
    carried = {"lang": ["en"], "tenant": "acme"}
    documents.write_text(json.dumps({**DOCUMENTS[0], "metadata": carried}))
    kept, left_out = tmp_path / "kept.jsonl", tmp_path / "left_out.jsonl"
    split(documents, kept, "--words", "4")
    fields = (MetadataField("lang", ("en",)), MetadataField("tenant", ("acme",)))
    assert [each.metadata for each in CorpusFile(kept)] == [fields, fields]
    split(documents, left_out, "--words", "4", "--ignore-metadata")
    assert [each.metadata for each in CorpusFile(left_out)] == [(), ()]
    assert "metadata" not in left_out.read_text()


def test_the_same_documents_give_the_same_bytes(documents: Path, tmp_path: Path) -> None:
    made = [tmp_path / f"{number}.jsonl.gz" for number in range(2)]
    for out in made:
        split(documents, out)
    assert made[0].read_bytes() == made[1].read_bytes()
    assert gzip.decompress(made[0].read_bytes()).count(b"\n") == 2


def test_an_existing_file_is_kept(documents: Path) -> None:
    with pytest.raises(InvalidRequest, match="--out: .* already exists"):
        split(documents, documents)
    assert documents.read_text().startswith('{"id": "a"')


def test_an_invalid_document_leaves_no_file(documents: Path, tmp_path: Path) -> None:
    documents.write_text(f"{json.dumps(DOCUMENTS[0])}\n{{}}\n")
    with pytest.raises(InvalidRequest, match=r"documents.jsonl line 2, id: is missing"):
        split(documents, tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["documents.jsonl"]


@pytest.mark.parametrize("words", ["0", "10001"])
def test_an_invalid_number_of_words_is_refused(documents: Path, tmp_path: Path, words: str) -> None:
    with pytest.raises(InvalidRequest, match=f"--words: must be 1 to 10,000, not {words}"):
        split(documents, tmp_path / "out.jsonl", "--words", words)


def test_a_path_that_cannot_be_written_is_reported(documents: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="--out: .*nowhere.*cannot be written: No such file"):
        split(documents, tmp_path / "nowhere" / "out.jsonl")
