import csv
import io
import json

from scaar.evaluator.report.files import to_csv, to_json
from scaar.evaluator.report.model import Cell, Column, Fact, Report, Section, Table, Verdict

TABLE = Table(
    "t",
    "T",
    (Column("policy", "policy"), Column("f1", "F1", decimals=3), Column("p", "p", decimals=4)),
    (
        (Cell('a, "b"'), Cell(1 / 3, 0.3, 0.4), Cell(0.01)),
        (Cell("c\nd"), Cell(None, note="not reached"), Cell(None)),
    ),
)


def test_tables_have_all_digits_and_columns_for_bounds_and_notes() -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert list(rows[0]) == ["policy", "f1", "f1_low", "f1_high", "f1_note", "p"]
    assert rows[0]["policy"] == 'a, "b"'
    assert float(rows[0]["f1"]) == 1 / 3
    assert (rows[0]["f1_low"], rows[0]["f1_high"], rows[0]["f1_note"]) == ("0.3", "0.4", "")
    assert rows[1] == {
        "policy": "c\nd",
        "f1": "",
        "f1_low": "",
        "f1_high": "",
        "f1_note": "not reached",
        "p": "",
    }


def test_the_whole_report_is_json() -> None:
    report = Report("R", "s", (Section("S", ("text", TABLE)),))
    read = json.loads(to_json(report, ("report.md",)))
    assert (read["format"], read["files"], read["title"]) == (1, ["report.md"], "R")
    text, table = read["sections"][0]["items"]
    assert text == "text"
    assert (table["type"], table["name"]) == ("table", "t")
    assert table["rows"][0][1] == {"value": 1 / 3, "low": 0.3, "high": 0.4, "note": ""}
    assert table["rows"][1][1] == {"value": None, "note": "not reached"}


def test_json_has_the_verdict_and_the_marks_but_no_listings() -> None:
    table = Table("t", "T", TABLE.columns[:2], ((Cell("a"), Cell(1.0, best=True, link="x")),))
    verdict = Verdict("a is best.", (Fact("F1", "1.000"),))
    read = json.loads(to_json(Report("R", "s", (Section("S", (table,)),), verdict, (table,)), ()))
    assert read["verdict"]["headline"] == "a is best."
    assert read["sections"][0]["items"][0]["rows"][0][1] == {"value": 1.0, "note": "", "best": True}
    assert "listings" not in read
