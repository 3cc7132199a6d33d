"""``python -m record run``: the evaluations of record. ``page``: the page made of them."""

import argparse
import sys
from pathlib import Path

from record.cost import told_cost
from record.page import write_page
from record.records import RECORDS
from record.running import run_steps
from scaar.core.errors import ScaarError


def main() -> int:
    """Runs, or writes the page; 1 where something did not come to its end."""
    parser = argparse.ArgumentParser(prog="python -m record", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run what is not there yet; started again, it goes on")
    run.add_argument("--out", type=Path, required=True, help="the folder of all results")
    run.add_argument("--limit", type=_count, help="at most so many questions each, for a try")
    run.add_argument("--only", help="steps by name, which commas part; all if not given")
    run.add_argument("--dry-run", action="store_true", help="say what it would cost, and stop")
    page = verbs.add_parser("page", help="write the page of the saved results alone")
    page.add_argument("folder", type=Path, metavar="DIR", help="the folder of all results")
    page.add_argument("--docs", type=Path, required=True, help="where the page goes")
    for verb in (run, page):
        verb.add_argument("--record", choices=list(RECORDS), default="results", help="which record")
    asked = parser.parse_args()
    try:
        if asked.verb == "page":
            print(write_page(asked.folder, asked.docs, RECORDS[asked.record].page))
            return 0
        return _run(asked, parser)
    except ScaarError as error:
        print(f"record: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on with it", file=sys.stderr)
        return 130


def _run(asked: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    steps = RECORDS[asked.record].plan()
    if asked.only is not None:
        names = asked.only.split(",")
        known = [each.name for each in steps]
        if wrong := [name for name in names if name not in known]:
            parser.error(f"--only: there is no {wrong[0]!r}; known: {', '.join(known)}")
        steps = tuple(each for each in steps if each.name in names)
    if asked.limit is not None:
        steps = tuple(each.limited(asked.limit) for each in steps)
    print(told_cost(steps), flush=True)
    if asked.dry_run:
        return 0
    broken = run_steps(steps, asked.out, told=lambda line: print(f"\n{line}", flush=True))
    if broken:
        print(f"did not come to their end: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


def _count(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a whole number of 2 to 1000000, not {text}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
