import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.core.types import Passage
from scaar.retriever.corpus.corpus import CorpusFile
from scaar.retriever.corpus.tsv import tsv_fields

HEADER = "id\ttext\ttitle\n"

# What DPR's file has: white space in a field is a single space.
fields = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), min_size=1)


def corpus(folder: Path, content: str, *, name: str = "psgs.tsv") -> CorpusFile:
    data = content.encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return CorpusFile(path)


@pytest.mark.parametrize("name", ["psgs.tsv", "psgs.tsv.gz"])
def test_passages_of_a_tsv_come_in_order(tmp_path: Path, name: str) -> None:
    lines = f'{HEADER}1\t"He said ""no""."\tA "B"\n\n2\tAaron is a prophet.\tAaron\r\n'
    assert list(corpus(tmp_path, lines, name=name)) == [
        Passage("1", 'A "B"', 'He said "no".'),
        Passage("2", "Aaron", "Aaron is a prophet."),
    ]


@given(st.tuples(fields, fields, fields))
def test_a_line_that_csv_writes_is_read(written: tuple[str, str, str]) -> None:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="\t").writerow(written)
    read = tsv_fields(buffer.getvalue())
    assert read is not None
    assert (read["id"], read["text"], read["title"]) == written


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\ta\tb\n", "psgs.tsv line 1: must be id, text, title in the first line"),
        (f"{HEADER}{HEADER}", "psgs.tsv line 2: must be id, text, title in the first line, and"),
        (f"{HEADER}1\ta\n", "psgs.tsv line 2: must have 3 tab-separated fields, not 2"),
        (f'{HEADER}1\t"a\tb\n', "psgs.tsv line 2: must have 3 tab-separated fields"),
        (f"{HEADER}1\t \tb\n", "psgs.tsv line 2, text: must not be empty"),
        (f"{HEADER}1\ta\tb\n1\ta\tb\n", "line 3, id: '1' is already the id of line 2"),
        (HEADER, "contains no passage"),
    ],
)
def test_an_invalid_tsv_is_reported_with_its_line(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(InvalidRequest, match=message):
        list(corpus(tmp_path, content))


@pytest.mark.real_data
def test_a_file_of_dprs_layout_has_the_passages_of_its_json_lines(real_data: Path) -> None:
    of_tsv = list(CorpusFile(real_data / "nq" / "nq_gold_2655.psgs_w100.tsv"))
    of_json = list(CorpusFile(real_data / "nq" / "nq_gold_2655.corpus.jsonl"))
    assert [each.id for each in of_tsv] == [each.id for each in of_json]
    assert [each.text.split() for each in of_tsv] == [each.text.split() for each in of_json]
