"""The pages of the documentation site: their links, and the check of the built site."""

from pathlib import Path

import pytest
import yaml

from reference import site
from reference.site import BrokenLink, broken_links, site_links, site_paths, stage
from reference.site_hooks import on_page_content

PATHS = {"README.md": "index.md", "docs/a.md": "a.md", "docs/b/c.svg": "b/c.svg"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "docs" / "b").mkdir(parents=True)
    (tmp_path / "docs" / "a.md").write_text("# Page A\n")
    (tmp_path / "docs" / "b" / "c.svg").write_text("<svg/>")
    (tmp_path / "README.md").write_text("# Project\n\n[docs/a.md](docs/a.md)\n")
    (tmp_path / "Makefile").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "text", "linked"),
    [
        ("README.md", "[the page](docs/a.md#x)", "[the page](a.md#x)"),
        ("README.md", "[docs/a.md](docs/a.md)", "[Page A](a.md)"),
        ("README.md", "![figure](docs/b/c.svg)", "![figure](b/c.svg)"),
        ("docs/a.md", "[project](../README.md#ask)", "[project](index.md#ask)"),
        ("docs/a.md", "[`make`](../Makefile)", "`make`"),
        ("docs/a.md", "[below](#x), [x](https://a.b/c.md)", "[below](#x), [x](https://a.b/c.md)"),
        ("docs/a.md", "```\n[x](none.md)\n```\n", "```\n[x](none.md)\n```\n"),
    ],
)
def test_links_become_those_of_the_site(root: Path, source: str, text: str, linked: str) -> None:
    assert site_links(text, source, PATHS, root=root, repository="") == linked


def test_links_to_other_files_lead_to_the_repository(root: Path) -> None:
    text = site_links("[m](../Makefile), [b](b)", "docs/a.md", PATHS, root=root, repository="o/n")
    github = "https://github.com/o/n"
    assert text == f"[m]({github}/blob/main/Makefile), [b]({github}/tree/main/docs/b)"


def test_a_link_to_a_missing_file_is_an_error(root: Path) -> None:
    with pytest.raises(BrokenLink, match=r"docs/a.md links to \.\./none, which does not exist"):
        site_links("[x](../none)", "docs/a.md", PATHS, root=root, repository="")


def test_the_pages_of_the_repository_can_be_staged(tmp_path: Path) -> None:
    stage(site.ROOT, tmp_path)
    assert "# scaar" in (tmp_path / "index.md").read_text()
    assert not (tmp_path / "results" / "why.md").exists()


def test_every_page_has_one_place_in_the_navigation() -> None:
    text = (site.ROOT / "mkdocs.yml").read_text()
    nav = yaml.safe_load(text[text.index("\nnav:") : text.index("\ntheme:")])["nav"]
    pages = [page for (entries,) in map(dict.values, nav) for page in entries]
    named = [page if isinstance(page, str) else next(iter(page.values())) for page in pages]
    paths = [name for name in site_paths(site.ROOT).values() if name.endswith(".md")]
    assert sorted(named) == sorted(paths)


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("b/#there", None),
        ("b/", None),
        ("#here", None),
        ("https://a.b/c", None),
        ("b/#missing", "index.html: b/#missing names no anchor of that page"),
        ("#missing", "index.html: #missing names no anchor of that page"),
        ("c/", "index.html: c/ does not exist"),
    ],
)
def test_the_check_reports_links_that_lead_nowhere(
    tmp_path: Path, address: str, error: str | None
) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<h1 id="there">B</h1><a href="../#here">A</a>')
    (tmp_path / "index.html").write_text(f'<h1 id="here">A</h1><a href="{address}">B</a>')
    assert list(broken_links(tmp_path)) == ([error] if error else [])


def test_a_site_without_pages_fails_the_check(tmp_path: Path) -> None:
    assert list(broken_links(tmp_path)) == [f"{tmp_path} has no pages"]


def test_roles_of_docstrings_become_code() -> None:
    html = "<p>A :class:<code>~scaar.core.Word</code> and :func:<code>open</code>.</p>"
    assert on_page_content(html) == "<p>A <code>Word</code> and <code>open</code>.</p>"
