"""Pages of the documentation site, and the check of its links.

    python -m reference.site stage [--repository OWNER/NAME]
    python -m reference.site check

``stage`` copies the pages of docs/ and the README files to ``.site/pages``, which MkDocs reads.
Links between them become links of the site; where the text of a link is the path, it becomes the
title of the page. Links to other files of the repository become links to GitHub, or plain text
without ``--repository``. ``check`` reads the built site in ``.site/html`` and fails if a link, an
image or an anchor leads nowhere. ``make docs`` runs both.
"""

import argparse
import os.path
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
SITE = ".site"
README_PAGES: Mapping[str, str] = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
    "deploy/triton/README.md": "triton.md",
    "helm/scaar/README.md": "kubernetes.md",
    "integration_tests/README.md": "integration-tests.md",
}
"""Pages of the site that lie outside docs/, by their path in the repository."""
INCLUDED = (
    "results/outdated.md",
    *(f"{page}/why.md" for page in ("results", "longtail", "methods", "free-words")),
)
"""Files of docs/ that other pages include, and that are no pages themselves."""
EXAMPLES = "examples/"
"""Folder of docs/ with code that is no part of the site."""
_CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:)([^)#\s]*)(#[^)\s]*)?\)")


class BrokenLink(Exception):
    """A link to a file that is not in the repository."""


def site_paths(root: Path) -> dict[str, str]:
    """Return the path in the site of every file that the site contains, by its repository path."""
    docs = root / "docs"
    names = [path.relative_to(docs).as_posix() for path in docs.rglob("*") if path.is_file()]
    pages = {
        f"docs/{name}": name
        for name in names
        if name not in INCLUDED and not name.startswith(EXAMPLES)
    }
    return {**README_PAGES, **pages}


def stage(root: Path, target: Path, *, repository: str = "") -> None:
    """Write every page and figure of the site below ``target``, with the links of the site.

    Raises:
        BrokenLink: a page links to a file that does not exist.
    """
    shutil.rmtree(target, ignore_errors=True)
    paths = site_paths(root)
    for source, name in paths.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = (root / source).read_text()
            path.write_text(site_links(text, source, paths, root=root, repository=repository))
        else:
            shutil.copyfile(root / source, path)


def site_links(
    text: str, source: str, paths: Mapping[str, str], *, root: Path, repository: str
) -> str:
    """Return the Markdown of the repository file ``source`` with the links of the site.

    Raises:
        BrokenLink: as of :func:`stage`.
    """

    def link(found: re.Match[str]) -> str:
        bang, label, path, anchor = found[1], found[2], found[3], found[4] or ""
        if not path:
            return found[0]
        linked = os.path.normpath(PurePosixPath(source).parent / path)
        if not (root / linked).exists():
            raise BrokenLink(f"{source} links to {path}, which does not exist")
        if linked in paths:
            place = os.path.relpath(paths[linked], PurePosixPath(paths[source]).parent)
            if label == path:
                label = title(root / linked)
            return f"{bang}[{label}]({place}{anchor})"
        if not repository:
            return label
        kind = "tree" if (root / linked).is_dir() else "blob"
        return f"[{label}](https://github.com/{repository}/{kind}/main/{linked}{anchor})"

    parts = _CODE.split(text)
    # Inline code may be the label of a link, so only blocks are left out as a whole.
    prose: list[str] = [""]
    for part in parts:
        if part.lstrip(" ").startswith("```"):
            prose += [part, ""]
        else:
            prose[-1] += part
    prose[::2] = [_LINK.sub(link, each) for each in prose[::2]]
    return "".join(prose)


def title(page: Path) -> str:
    """Return the first heading of a Markdown file."""
    return re.search(r"^# (.*)$", page.read_text(), re.MULTILINE)[1]  # type: ignore[index]


class Page(HTMLParser):
    """The anchors of an HTML page, and the addresses that it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the ids and addresses of one element."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.addresses.append(value)


def broken_links(site: Path) -> Iterator[str]:
    """Yield a message for each address within the site that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in site.rglob("*.html")}
    if not pages:
        yield f"{site} has no pages"
    for path, page in sorted(pages.items()):
        # The page for unknown addresses is served at any depth, so its own are absolute.
        if path.name == "404.html":
            continue
        for address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            linked = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if linked.is_dir():
                linked /= "index.html"
            name = path.relative_to(site.resolve())
            if not linked.is_file():
                yield f"{name}: {address} does not exist"
            elif parts.fragment and linked in pages:
                anchor = unquote(parts.fragment)
                if anchor not in pages[linked].anchors and not anchor.startswith("__"):
                    yield f"{name}: {address} names no anchor of that page"


def main(arguments: list[str]) -> int:
    """Return the exit status for these arguments."""
    parser = argparse.ArgumentParser(prog="python -m reference.site", description=__doc__)
    parser.add_argument("step", choices=["stage", "check"])
    parser.add_argument("--repository", default="", help="OWNER/NAME on GitHub, for links to files")
    chosen = parser.parse_args(arguments)
    if chosen.step == "stage":
        try:
            stage(ROOT, ROOT / SITE / "pages", repository=chosen.repository)
        except BrokenLink as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    wrong = list(broken_links(ROOT / SITE / "html"))
    for each in wrong:
        print(each, file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
