from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.errors import InvalidRequest
from scaar.runtime.config_file import CONFIG_VARIABLE, SECTIONS, ConfigFile, config_in_use


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scaar.yaml"


def refused(path: Path) -> str:
    with pytest.raises(InvalidRequest) as caught:
        ConfigFile.read(path)
    return str(caught.value).removeprefix(str(path))


def test_a_file_holds_a_section_for_each_service(path: Path) -> None:
    path.write_text("generator:\n  threads: 2\nscorer:\n")
    assert ConfigFile.read(path).sections == {"generator": {"threads": 2}, "scorer": {}}


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n", "{}\n"])
def test_an_empty_file_sets_nothing(path: Path, text: str) -> None:
    path.write_text(text)
    assert ConfigFile.read(path).sections == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("generator:\n  threads: [2\nscorer:\n", ": line 3, column 7: while parsing a flow"),
        ("generator:\n\tthreads: 2\n", ": line 2, column 1: while scanning for"),
        ("a: 1\nb: 2\na: 3\n", ": line 3, column 1: 'a' is given twice"),
        ("g:\n  a: 1\n  a: 2\n", ": line 3, column 3: 'a' is given twice"),
        ("g: !!python/object:os.system {}\n", ": line 1, column 4: could not determine"),
        ("a: 1\n---\nb: 2\n", ": line 2, column 1: expected a single doc"),
        ("? [a]\n: 1\n", ": line 1, column 3: while constructing"),
        ("a: \x00\n", ": is not valid YAML"),
        ("a: 2026-99-99\n", ": is not valid YAML"),
        ("[" * 100_000, ": is not valid YAML"),
        ("just text", f": must be sections of settings; sections: {', '.join(SECTIONS)}"),
        ("- a\n", ": must be sections of settings"),
        ("g: 1\ns: [a]\n", ": g: is not a section of settings; sections: orchestrator, "),
        ("scorer: 1\n", ": scorer: must be a section of settings, such as scorer: {SETTING: "),
        ("g: {1: 2}\n", ": g: is not a section of settings"),
    ],
)
def test_a_file_without_yaml_sections_is_reported(path: Path, text: str, message: str) -> None:
    path.write_text(text)
    assert refused(path).startswith(message)


def test_invalid_utf_8_is_reported(path: Path) -> None:
    path.write_bytes(b"a: \xff\xfe\xfd\n")
    assert refused(path) == ": is not valid YAML"


def test_a_missing_file_is_reported(path: Path) -> None:
    assert refused(path) == ": cannot be read: No such file or directory"
    assert refused(path.parent) == ": cannot be read: Is a directory"


def test_an_unknown_section_is_reported_with_the_known_ones(path: Path) -> None:
    path.write_text("generatr: {}\nscorer: {}\n")
    (violation,) = ConfigFile.read(path).unknown(["generator", "scorer"])
    assert str(violation) == f"{path}: generatr: is not a section; known: generator, scorer"


def test_the_file_in_use_is_the_one_that_the_environment_names(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)
    assert config_in_use() is None
    monkeypatch.setenv(CONFIG_VARIABLE, "")
    assert config_in_use() is None
    path.write_text("scorer: {threads: 1}\n")
    monkeypatch.setenv(CONFIG_VARIABLE, str(path))
    config = config_in_use()
    assert config is not None
    assert config.sections == {"scorer": {"threads": 1}}


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(content)
    with suppress(InvalidRequest):
        ConfigFile.read(path)
