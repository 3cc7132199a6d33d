"""``make bench``: every comparison, or the parts that are named, printed as Markdown."""

import argparse
import asyncio
import os
import platform
import tempfile
from pathlib import Path

from bench.report import PARTS, Sizes, report


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    told = f"what to measure, of {', '.join(PARTS)}; all of it where nothing is named"
    parser.add_argument("parts", nargs="*", metavar="part", help=told)
    for name, default, text in (
        ("questions", 30, "questions a policy"),
        ("paced", 10, "questions at 10 ms a token that trigger nothing"),
        ("equal", 24, "questions at equal retrievals"),
        ("rounds", 3, "rounds over the questions at equal retrievals"),
        ("answers", 2000, "answers for the memory"),
        ("window", 6, "seconds at each load for the overload"),
    ):
        parser.add_argument(f"--{name}", type=_count, default=default, help=f"{text} ({default})")
    asked = parser.parse_args()
    unknown = [part for part in asked.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="scaar-bench-") as folder:
        os.environ["SCAAR_HOME"] = folder
        sizes = Sizes(
            questions=asked.questions,
            paced=asked.paced,
            equal=asked.equal,
            rounds=asked.rounds,
            answers=asked.answers,
            window=asked.window,
        )
        asyncio.run(report(Path(folder), asked.parts or PARTS, sizes))


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 to 100000, not {text}")
    return int(text)


if __name__ == "__main__":
    main()
