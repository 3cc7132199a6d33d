"""``make bench``: print every comparison, or the named parts, as Markdown."""

import argparse
import asyncio
import os
import platform
import tempfile
from pathlib import Path

from bench.report import PARTS, Sizes, report


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    text = f"parts to measure, of {', '.join(PARTS)} (default: all)"
    parser.add_argument("parts", nargs="*", metavar="part", help=text)
    for name, default, text in (
        ("questions", 30, "questions per policy"),
        ("paced", 10, "questions at 10 ms per token that trigger nothing"),
        ("equal", 24, "questions at a matched retrieval budget"),
        ("rounds", 3, "rounds at a matched retrieval budget"),
        ("answers", 2000, "answers for the memory measurement"),
        ("window", 15, "seconds at each load of the overload measurement"),
    ):
        parser.add_argument(f"--{name}", type=_count, default=default, help=f"{text} ({default})")
    arguments = parser.parse_args()
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory(prefix="scaar-bench-") as folder:
        os.environ["SCAAR_HOME"] = folder
        sizes = Sizes(
            questions=arguments.questions,
            paced=arguments.paced,
            equal=arguments.equal,
            rounds=arguments.rounds,
            answers=arguments.answers,
            window=arguments.window,
        )
        asyncio.run(report(Path(folder), arguments.parts or PARTS, sizes))


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 to 100000, not {text}")
    return int(text)


if __name__ == "__main__":
    main()
