"""One YAML file of settings for all services, a section each."""

import os
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import yaml

from scaar.core.errors import InvalidRequest, Violation

CONFIG_VARIABLE = "SCAAR_CONFIG"
"""The environment variable that names the file."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a file says, by section."""

    path: Path
    sections: Mapping[str, Mapping[str, object]]

    @classmethod
    def read(cls, path: Path) -> Self:
        """The file, its sections and fields not yet checked; one that is empty sets nothing.

        Raises:
            InvalidRequest: it cannot be read, is no YAML (line and column), or has no sections.
        """
        document = _parsed(path)
        if not isinstance(document, dict | None):
            raise InvalidRequest.of(str(path), "must be sections of settings")
        sections = {str(name): fields or {} for name, fields in (document or {}).items()}
        wrong = [
            Violation(f"{path}: {name}", "must be settings, each with a name")
            for name, fields in sections.items()
            if not isinstance(fields, dict) or not all(isinstance(each, str) for each in fields)
        ]
        if wrong:
            raise InvalidRequest(wrong)
        return cls(path, sections)

    def named(self, section: str, field: str) -> str:
        """What a field is called in an error."""
        return f"{self.path}: {section}.{field}"

    def unknown(self, known: Collection[str]) -> list[Violation]:
        """A violation for every section that is none of those known."""
        return [
            Violation(f"{self.path}: {name}", f"is no section; known: {', '.join(known)}")
            for name in self.sections
            if name not in known
        ]


def config_in_use() -> ConfigFile | None:
    """The file that the environment names, if it names one."""
    path = os.environ.get(CONFIG_VARIABLE)
    return ConfigFile.read(Path(path)) if path else None


class _Loader(yaml.SafeLoader):
    """Makes plain values only; a key that is given twice is an error."""

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
        raise InvalidRequest.of(str(path), "is no YAML") from error
    return document
