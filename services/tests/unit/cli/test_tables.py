import io
import json

import pytest
from rich.console import Console

from scaar.cli.tables import (
    Column,
    Interval,
    Table,
    TableFormat,
    facts_table,
    interval,
    number,
    print_table,
    show_table,
)

TABLE = Table(
    (
        Column("setting", right=False),
        Column("f1", "F1 [95%]", interval(2)),
        Column("llm_calls", text=number(1)),
    ),
    [("scaar|0.4", Interval(0.5, 0.25, None), 2), ("none", Interval(None, None, None), None)],
)


def printed(table: Table, output: TableFormat | None, capsys: pytest.CaptureFixture[str]) -> str:
    print_table(table, output)
    return capsys.readouterr().out


def test_a_pipe_gets_markdown_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        "| setting | F1 [95%] | llm calls |",
        "| --- | --- | --- |",
        r"| scaar\|0.4 | 0.50 [0.25, 0.00] | 2.0 |",
        "| none | - | - |",
    ]
    assert printed(TABLE, None, capsys).splitlines() == lines
    assert printed(TABLE, TableFormat.MARKDOWN, capsys).splitlines() == lines


def test_json_has_the_values_of_a_row_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = map(json.loads, printed(TABLE, TableFormat.JSON, capsys).splitlines())
    assert first == {
        "setting": "scaar|0.4",
        "f1": 0.5,
        "f1_low": 0.25,
        "f1_high": None,
        "llm_calls": 2,
    }
    assert second["llm_calls"] is None


def test_csv_has_the_values_and_empty_cells(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(TABLE, TableFormat.CSV, capsys).splitlines() == [
        "setting,f1,f1_low,f1_high,llm_calls",
        "scaar|0.4,0.5,0.25,,2",
        "none,,,,",
    ]
    empty = Table(TABLE.columns, [])
    assert printed(empty, TableFormat.CSV, capsys) == "setting,f1,llm_calls\n"
    assert printed(empty, TableFormat.JSON, capsys) == ""


def test_records_replace_the_rows_in_json_only(capsys: pytest.CaptureFixture[str]) -> None:
    table = facts_table([("size", "2 MB")], {"size_bytes": 2_000_000})
    assert json.loads(printed(table, TableFormat.JSON, capsys)) == {"size_bytes": 2_000_000}
    assert printed(table, TableFormat.CSV, capsys) == "name,value\nsize,2 MB\n"


def test_a_terminal_gets_aligned_columns_within_its_width() -> None:
    out = io.StringIO()
    long = Table(TABLE.columns, [("x" * 60, Interval(0.1, 0.0, 0.2), 1)])
    show_table(long, Console(file=out, force_terminal=True, width=60, color_system=None))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert "0.10 [0.00, 0.20]" in lines[2]
    assert "".join(line.split()[0] for line in lines[2:]) == "x" * 60


def test_a_table_in_a_pipe_is_not_cut() -> None:
    out = io.StringIO()
    wide = Table((Column("a", right=False), Column("b")), [("x" * 300, "y" * 300)])
    show_table(wide, Console(file=out, width=80))
    assert out.getvalue().splitlines()[2].split() == ["x" * 300, "y" * 300]
