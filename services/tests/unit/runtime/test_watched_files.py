"""Files that are read again when they change."""

from pathlib import Path

from scaar.runtime.watched_files import WatchedFiles


def test_a_file_changed_during_a_read_is_read_again(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert", tmp_path / "key"

    def read() -> tuple[str, str]:
        found = cert.read_text()
        if found == "second":
            cert.write_text("the third")
            key.write_text("the third")
        return found, key.read_text()

    cert.write_text("one")
    key.write_text("one")
    watched = WatchedFiles([cert, key], read)
    cert.write_text("second")
    key.write_text("second")
    assert watched.current() == ("the third", "the third")
