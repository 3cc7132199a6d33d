"""YAML configuration file with one section of settings per service."""

import os
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from scaar.core.errors import InvalidRequest, Violation

CONFIG_VARIABLE = "SCAAR_CONFIG"
"""The environment variable that names the file."""
SECTIONS = (
    *("orchestrator", "generator", "scorer", "query_builder", "retriever", "evaluator"),
    *("records", "gateway", "console", "channel", "breaker"),
)
"""The sections of a file: a service each, and the settings that all services share."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The sections of a configuration file."""

    path: Path
    sections: Mapping[str, Mapping[str, object]]

    @classmethod
    def read(cls, path: Path, *, known: Collection[str] = SECTIONS) -> Self:
        """Read a file without validating sections and fields. An empty file is valid.

        Errors name the ``known`` sections.

        Raises:
            InvalidRequest: the file cannot be read, is not YAML (with line and column), or has
                something other than sections.
        """
        document = _parsed(path)
        if not isinstance(document, dict | None):
            raise InvalidRequest.of(str(path), f"must be sections of settings; {_listed(known)}")
        sections = {str(name): fields or {} for name, fields in (document or {}).items()}
        wrong = [
            Violation(f"{path}: {name}", _not_a_section(name, known))
            for name, fields in sections.items()
            if not isinstance(fields, dict) or not all(isinstance(each, str) for each in fields)
        ]
        if wrong:
            raise InvalidRequest(wrong)
        return cls(path, sections)

    def named(self, section: str, field: str) -> str:
        """Return the name of a field in errors."""
        return f"{self.path}: {section}.{field}"

    def unknown(self, known: Collection[str]) -> list[Violation]:
        """Return a violation for every unknown section."""
        return [
            Violation(f"{self.path}: {name}", f"is not a section; known: {', '.join(known)}")
            for name in self.sections
            if name not in known
        ]


def config_in_use() -> ConfigFile | None:
    """Return the file that ``SCAAR_CONFIG`` names, or None."""
    path = os.environ.get(CONFIG_VARIABLE)
    return ConfigFile.read(Path(path)) if path else None


def source_of(variable: str) -> str:
    """Return the name of a setting's value: the variable, or that in the file if it is only there.

    Raises:
        InvalidRequest: the file cannot be read.
    """
    if not variable.startswith("SCAAR_") or os.environ.get(variable):
        return variable
    if (config := config_in_use()) is not None:
        for section, fields in config.sections.items():
            for field in fields:
                if variable == f"SCAAR_{section}_{field}".upper():
                    return config.named(section, field)
    return variable


def _listed(known: Collection[str]) -> str:
    return f"sections: {', '.join(known)}"


def _not_a_section(name: str, known: Collection[str]) -> str:
    """Describe a value that stands where a section with settings is expected."""
    if name in known:
        return f"must be a section of settings, such as {name}: {{SETTING: VALUE}}"
    return f"is not a section of settings; {_listed(known)}"


class _Loader(yaml.SafeLoader):
    """Loads plain values only; a duplicate key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen = set[str]()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    text = f"{key.value!r} is given twice"
                    raise yaml.constructor.ConstructorError(None, None, text, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def _parsed(path: Path) -> object:
    try:
        document: object = yaml.load(path.read_bytes(), Loader=_Loader)
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
        raise InvalidRequest.of(str(path), text) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        problem = ", ".join(filter(None, (error.context, error.problem)))
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise InvalidRequest.of(str(path), f"{where}{problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidRequest.of(str(path), "is not valid YAML") from error
    return document
