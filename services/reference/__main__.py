"""``python -m reference``: writes generated parts of docs/ and helm/; ``--check`` compares them."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from reference.chart import chart_files
from reference.conditions import errors
from reference.contract import contract
from reference.markdown import replace_parts
from reference.metrics import metrics
from reference.policies import origins
from reference.policies import settings as policy_settings
from reference.protos import read_protos
from reference.settings import settings_parts

ROOT = Path(__file__).parents[2]


def pages() -> Mapping[str, Mapping[str, str]]:
    """Return the generated parts of each page under docs/."""
    protos = read_protos(ROOT / "proto")
    return {
        "contract.md": {"contract": contract(protos), "errors": errors()},
        "configuration.md": settings_parts(),
        "policies.md": {"settings": policy_settings(), "origins": origins()},
        "telemetry.md": {"metrics": metrics()},
    }


def generated_files() -> Mapping[str, str]:
    """Return the expected content of every generated file, by path."""
    folder = ROOT / "docs"
    generated = {
        f"docs/{name}": replace_parts((folder / name).read_text(), parts)
        for name, parts in pages().items()
    }
    return {**generated, **chart_files(ROOT)}


def main() -> int:
    """Write the files, or report the files that are out of date."""
    parser = argparse.ArgumentParser(prog="python -m reference", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; fail if a file is out of date"
    )
    check = parser.parse_args().check
    stale = 0
    for name, expected in generated_files().items():
        path = ROOT / name
        if not check:
            path.write_text(expected)
            print(f"wrote {name}")
        elif not path.is_file() or path.read_text() != expected:
            stale += 1
            print(f"{name} is out of date: run make proto", file=sys.stderr)
        else:
            print(f"{name} is up to date")
    return min(stale, 1)


if __name__ == "__main__":
    sys.exit(main())
