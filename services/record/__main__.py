"""``python -m record run``: the evaluations of record. ``page``: docs/results.md made of them."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from record.cost import told_cost
from record.page import write_page
from record.plan import plan
from record.running import run_entries
from scaar.core.errors import ScaarError


def main() -> int:
    """Runs, or writes the page; 1 where something did not come to its end."""
    parser = argparse.ArgumentParser(prog="python -m record", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run what is not there yet; started again, it goes on")
    run.add_argument("--out", type=Path, required=True, help="the folder of all results")
    run.add_argument("--limit", type=_count, help="at most so many questions each, for a try")
    run.add_argument("--only", help="evaluations by name, which commas part; all if not given")
    run.add_argument("--dry-run", action="store_true", help="say what it would cost, and stop")
    page = verbs.add_parser("page", help="write results.md of the saved results alone")
    page.add_argument("folder", type=Path, metavar="DIR", help="the folder of all results")
    page.add_argument("--docs", type=Path, required=True, help="where results.md goes")
    asked = parser.parse_args()
    try:
        if asked.verb == "page":
            write_page(asked.folder, asked.docs)
            print(asked.docs / "results.md")
            return 0
        return _run(asked, parser)
    except ScaarError as error:
        print(f"record: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on with it", file=sys.stderr)
        return 130


def _run(asked: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    entries = plan()
    if asked.only is not None:
        names = asked.only.split(",")
        known = [each.name for each in entries]
        if wrong := [name for name in names if name not in known]:
            parser.error(f"--only: there is no {wrong[0]!r}; known: {', '.join(known)}")
        entries = tuple(each for each in entries if each.name in names)
    if asked.limit is not None:
        entries = tuple(replace(each, limit=min(each.limit, asked.limit)) for each in entries)
    print(told_cost(entries), flush=True)
    if asked.dry_run:
        return 0
    broken = run_entries(entries, asked.out, told=lambda line: print(f"\n{line}", flush=True))
    if broken:
        print(f"did not come to their end: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


def _count(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a whole number of 2 to 1000000, not {text}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
