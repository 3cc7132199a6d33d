"""``python -m reference``: writes what docs/ has of the code; ``--check`` holds it to the code."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

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


def main() -> int:
    """Writes the pages, or says which of them is not what the code makes."""
    parser = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it would")
    check = parser.parse_args().check
    stale = 0
    for name, parts in pages().items():
        path = ROOT / "docs" / name
        before = path.read_text()
        after = remade(before, parts)
        if not check:
            path.write_text(after)
            print(f"wrote docs/{name}")
        elif before != after:
            stale += 1
            print(f"docs/{name} is not what the code makes: run make proto", file=sys.stderr)
        else:
            print(f"docs/{name} is what the code makes")
    return min(stale, 1)


if __name__ == "__main__":
    sys.exit(main())
