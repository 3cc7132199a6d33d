"""``python -m reference.gates DIR``: writes the tables of docs/gates.md.

``DIR`` is the output folder of ``scaar eval gates``.
"""

import sys
from pathlib import Path

from reference.markdown import replace_parts

PAGE = Path(__file__).parents[2] / "docs" / "gates.md"
BY = "python -m reference.gates"
PART = "results"


def part(folder: Path) -> str:
    """Return the sections of the report in a folder, one heading level lower."""
    _, *lines = (folder / "report.md").read_text().splitlines()
    return "\n".join(f"#{line}" if line.startswith("## ") else line for line in lines)


def main() -> int:
    """Write the tables of the page from the given folder."""
    if len(sys.argv) != 2:
        print(f"usage: {BY} DIR", file=sys.stderr)
        return 2
    try:
        page = replace_parts(PAGE.read_text(), {PART: part(Path(sys.argv[1]))}, by=BY)
    except (OSError, ValueError) as error:
        print(f"{BY}: {error}", file=sys.stderr)
        return 1
    PAGE.write_text(page)
    print(f"wrote docs/{PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
