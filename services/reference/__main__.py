"""``python -m reference``: writes what docs/ and helm/ have of the code; ``--check`` holds them."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from reference.chart import chart_files
from reference.conditions import errors
from reference.contract import contract
from reference.markdown import remade
from reference.metrics import metrics
from reference.protos import read_protos
from reference.settings import settings_parts

ROOT = Path(__file__).parents[2]


def pages() -> Mapping[str, Mapping[str, str]]:
    """The pages under docs/, and the parts of each."""
    protos = read_protos(ROOT / "proto")
    return {
        "contract.md": {"contract": contract(protos), "errors": errors()},
        "configuration.md": settings_parts(),
        "telemetry.md": {"metrics": metrics()},
    }


def wanted() -> Mapping[str, str]:
    """What every file that is made should have in it, by its path."""
    folder = ROOT / "docs"
    made = {
        f"docs/{name}": remade((folder / name).read_text(), parts)
        for name, parts in pages().items()
    }
    return {**made, **chart_files(ROOT)}


def main() -> int:
    """Writes the files, or says which of them is not what the code makes."""
    parser = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it would")
    check = parser.parse_args().check
    stale = 0
    for name, after in wanted().items():
        path = ROOT / name
        if not check:
            path.write_text(after)
            print(f"wrote {name}")
        elif not path.is_file() or path.read_text() != after:
            stale += 1
            print(f"{name} is not what the code makes: run make proto", file=sys.stderr)
        else:
            print(f"{name} is what the code makes")
    return min(stale, 1)


if __name__ == "__main__":
    sys.exit(main())
