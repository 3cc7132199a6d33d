"""Markdown tables with aligned columns."""

from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the table; the first column is text, the others are right-aligned numbers."""
    lines = [columns, *rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    rule = [f"{'-' * (width - 1)}{'-' if at == 0 else ':'}" for at, width in enumerate(widths)]
    return "\n".join(_line(line, widths) for line in (columns, rule, *lines[1:]))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    aligned = [
        name.ljust(widths[0]),
        *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True)),
    ]
    return f"| {' | '.join(aligned)} |"
