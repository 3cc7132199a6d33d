"""``python -m record run``: the evaluations of record. ``page``: the page made of them."""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from record.evaluations import run_steps
from record.free.page import FREE_WORDS
from record.free.plan import plan as plan_free_words
from record.longtail.page import LONGTAIL
from record.longtail.plan import plan as plan_longtail
from record.methods.page import METHODS
from record.methods.plan import plan as plan_methods
from record.page import RESULTS, Page, write_page
from record.papers.page import PAPERS
from record.papers.plan import plan as plan_papers
from record.plan import plan as plan_results
from record.steps import Step, describe_cost
from record.tuning.page import TUNING
from record.tuning.plan import plan as plan_tuning
from scaar.core.errors import ScaarError


@dataclass(frozen=True, slots=True)
class Record:
    """The steps, in order, and the page."""

    plan: Callable[[], tuple[Step, ...]]
    page: Page


RECORDS: Mapping[str, Record] = MappingProxyType(
    {
        "results": Record(plan_results, RESULTS),
        "longtail": Record(plan_longtail, LONGTAIL),
        "tuning": Record(plan_tuning, TUNING),
        "free-words": Record(plan_free_words, FREE_WORDS),
        "methods": Record(plan_methods, METHODS),
        "papers": Record(plan_papers, PAPERS),
    }
)


def main() -> int:
    """Run the evaluations or write the page; return 1 if a step is unfinished."""
    parser = argparse.ArgumentParser(prog="python -m record", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run the evaluations; the same command resumes")
    run.add_argument("--out", type=Path, required=True, help="folder of all results")
    run.add_argument("--limit", type=_count, help="maximum number of questions of each step")
    run.add_argument("--only", help="names of steps, separated by commas (default: all)")
    run.add_argument("--dry-run", action="store_true", help="print the cost and stop")
    page = verbs.add_parser("page", help="write the page from saved results")
    page.add_argument("folder", type=Path, metavar="DIR", help="folder of all results")
    page.add_argument("--docs", type=Path, required=True, help="folder of the page")
    for verb in (run, page):
        verb.add_argument(
            "--record", choices=list(RECORDS), default="results", help="name of the record"
        )
    options = parser.parse_args()
    try:
        if options.verb == "page":
            print(write_page(options.folder, options.docs, RECORDS[options.record].page))
            return 0
        return _run(options, parser)
    except ScaarError as error:
        print(f"record: {error.message}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command resumes", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    steps = RECORDS[options.record].plan()
    if options.only is not None:
        names = options.only.split(",")
        known = [each.name for each in steps]
        if wrong := [name for name in names if name not in known]:
            parser.error(f"--only: there is no {wrong[0]!r}; known: {', '.join(known)}")
        steps = tuple(each for each in steps if each.name in names)
    if options.limit is not None:
        steps = tuple(each.limited(options.limit) for each in steps)
    print(describe_cost(steps), flush=True)
    if options.dry_run:
        return 0
    unfinished = run_steps(steps, options.out, on_step=lambda line: print(f"\n{line}", flush=True))
    if unfinished:
        print(f"unfinished: {', '.join(unfinished)}", file=sys.stderr)
    return 1 if unfinished else 0


def _count(text: str) -> int:
    if not text.isdecimal() or not 2 <= int(text) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"must be a whole number of 2 to 1000000, not {text}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
