"""``python -m language``: list the phrases in the repository that have a plainer equivalent.

``make check`` runs it beside codespell, which looks at single words.
"""

import subprocess
import sys
from pathlib import Path

from language.phrases import find_phrases, read_phrases
from language.prose import is_prose, prose_of

ROOT = Path(__file__).parents[2]
PHRASES = Path(__file__).with_name("phrases.toml")
SKIPPED = (
    # Lists the words that its terms replace.
    "docs/glossary.md",
    "services/language/",
    "services/tests/unit/language/",
    # The lab's world and the papers' few-shot examples are data.
    "services/scaar/core/prompts/exemplars/",
    "services/scaar/lab/",
    "services/scaar/v1/",
)


def main() -> int:
    """Return 1 if a phrase was found, after printing each with its file and line."""
    phrases = read_phrases(PHRASES)
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    status = 0
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if name.startswith(SKIPPED) or not is_prose(path) or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        for found in find_phrases(prose_of(path, text), phrases):
            status = 1
            print(f"{name}:{found.line}: write {found.phrase.write!r}, not {found.text!r}")
    return status


if __name__ == "__main__":
    sys.exit(main())
