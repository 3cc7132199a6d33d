from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.retriever.documents.document import ReadingLimits
from scaar.retriever.documents.files import check_roots, find_files
from scaar.retriever.documents.reading import DocumentFolders
from scaar.retriever.documents.urls import check_prefix, document_url


def write(path: Path, text: str = "Text.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_files_are_found_in_order_without_hidden_ones_and_links(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.TXT", "a/.hidden.md", ".git/c.md", "a/code.py", "a/Makefile"):
        write(tmp_path / name)
    (tmp_path / "link.md").symlink_to(tmp_path / "b.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    found = find_files([tmp_path])
    assert [each.source for each in found.files] == ["b.md", "a/z.TXT"]
    assert found.unsupported == {".py": 1, "no suffix": 1}
    assert found.errors == []


def test_a_path_that_cannot_be_metadata_is_an_error_of_the_file(tmp_path: Path) -> None:
    write(tmp_path / "a\nb.md")
    found = find_files([tmp_path])
    assert found.files == []
    assert "a\\nb.md must have a printable path" in str(found.errors[0])


def test_a_folder_that_is_gone_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    write(tmp_path / "a" / "a.md")
    with pytest.raises(InvalidRequest, match="documents: .*none does not exist"):
        find_files([tmp_path / "a", tmp_path / "none"])


def test_a_single_file_is_a_root(tmp_path: Path) -> None:
    file = write(tmp_path / "a.md")
    assert [each.source for each in find_files(check_roots([file])).files] == ["a.md"]


def test_invalid_roots_are_refused(tmp_path: Path) -> None:
    program = write(tmp_path / "code.py")
    for paths, message in (
        ([tmp_path / "none"], "does not exist"),
        ([program], "is not a folder, and not one of .docx"),
        ([tmp_path, tmp_path], "is given twice"),
        ([tmp_path, write(tmp_path / "a.md")], "is given twice"),
    ):
        with pytest.raises(InvalidRequest, match=message):
            check_roots(paths)


def test_equal_passages_of_a_document_get_suffixes(tmp_path: Path) -> None:
    write(tmp_path / "a.md", "# A\nSame.\n# B\nSame.\n# C\nSame.")
    ids = [passage.id for passage in DocumentFolders([tmp_path]).read()]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]


def test_the_errors_of_all_files_are_collected_and_the_others_are_read(tmp_path: Path) -> None:
    write(tmp_path / "good.md")
    write(tmp_path / "empty.md", "")
    write(tmp_path / "large.md", "x" * 1_001)
    (tmp_path / "latin.txt").write_bytes("Zoë".encode("latin-1"))
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.7")
    read = DocumentFolders([tmp_path], limits=ReadingLimits(file_bytes=1_000)).read()
    assert [each.text for each in read] == ["Text."]
    assert read.files == 1
    assert [(each.path.name, each.reason.split(":")[0]) for each in read.errors] == [
        ("empty.md", "is empty"),
        ("large.md", "is larger than 0.001 MB (--max-file-mb)"),
        ("latin.txt", "is not UTF-8 at byte 2"),
        ("scan.pdf", read.errors[3].reason.split(":")[0]),
    ]


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    file = write(tmp_path / "a.md", "One.")
    folders = DocumentFolders([tmp_path])
    (first,) = folders.read()
    (again,) = folders.read()
    assert again is first
    state = folders.state()
    write(file, "Another text.")
    assert folders.state() != state
    assert [each.text for each in folders.read()] == ["Another text."]


@pytest.mark.parametrize(
    ("own", "prefix", "url"),
    [
        ("", "", ""),
        ("", "https://a.example/docs/", "https://a.example/docs/a%20b/c.md"),
        ("http://b.example/x", "https://a.example", "http://b.example/x"),
        ("javascript:alert(1)", "https://a.example", "https://a.example/a%20b/c.md"),
        ("file:///etc/passwd", "", ""),
        ("https://a.example/" + "x" * 256, "", ""),
        ("https://[bad", "", ""),
    ],
)
def test_the_url_of_a_document_is_its_own_else_its_path_below_the_prefix(
    own: str, prefix: str, url: str
) -> None:
    assert document_url(own, prefix, "a b/c.md") == url


@pytest.mark.parametrize("prefix", ["", "docs", "ftp://a.example", "https://"])
def test_a_prefix_that_is_no_web_address_is_refused(prefix: str) -> None:
    with pytest.raises(InvalidRequest, match="must be an http or https URL"):
        check_prefix(prefix)
