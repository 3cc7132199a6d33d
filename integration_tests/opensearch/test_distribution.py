"""The versions of OpenSearch that the tests can run, and the Java that each needs."""

from pathlib import Path

import pytest

from ..servers.opensearch.distribution import check_java


def java(folder: Path, version: str) -> str:
    """Return the path of a java program that reports a version."""
    program = folder / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-20' >&2\n")
    program.chmod(0o755)
    return str(program)


def test_java_of_the_needed_version_is_accepted(tmp_path: Path) -> None:
    check_java("2.19.4", java(tmp_path, "17.0.15"))
    check_java("3.4.0", java(tmp_path, "21"))


def test_an_older_java_is_rejected_with_the_needed_version(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"OpenSearch 3\.4\.0 needs Java 21 .* is version 17"):
        check_java("3.4.0", java(tmp_path, "17.0.15"))


def test_a_missing_java_is_rejected_with_the_needed_version(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"needs Java 21 .* does not run; set SCAAR_TEST_JAVA"):
        check_java("3.4.0", str(tmp_path / "java"))


def test_an_unknown_version_is_rejected_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"must be 2\.19\.4 or 3\.4\.0, not '3\.3'"):
        check_java("3.3", java(tmp_path, "21"))
