"""The section ``tenants`` of a file of identities: the indexes that each tenant may read.

tenants:
  acme:
    indexes:
      acme-docs: {}                           # all passages
      shared: {tenant: acme, lang: [en, de]}  # passages that match every field
  operations:
    indexes: {"*": {}}                        # every index
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scaar.core.access import EVERY, IndexAccess
from scaar.core.errors import Violation
from scaar.core.filters import (
    FIELD_RULE,
    MAX_FILTER_VALUES,
    is_field_name,
    wrong_filters,
    wrong_values,
)
from scaar.core.tenancy import wrong_tenant
from scaar.core.types import Filter
from scaar.core.validation import INDEX_NAME_RULE, is_index_name
from scaar.runtime.config_file import ConfigFile

SECTION = "tenants"
_INDEXES = "indexes"
_FORM = f'such as {{docs: {{}}}}, or {{"{EVERY}": {{}}}} for every index'


def read_access_rules(file: ConfigFile) -> tuple[Mapping[str, IndexAccess] | None, list[Violation]]:
    """Return the access of each tenant, None without the section, and every violation."""
    if SECTION not in file.sections:
        return None, []
    reader = _Reader(file)
    return dict(reader.tenants()), reader.wrong


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the section; what is invalid is left out and added to ``wrong``."""

    file: ConfigFile
    wrong: list[Violation] = field(default_factory=list)

    def tenants(self) -> Iterator[tuple[str, IndexAccess]]:
        for tenant, given in self.file.sections[SECTION].items():
            if message := wrong_tenant(tenant):
                self._add(tenant, f"the tenant {message}")
            elif not isinstance(given, dict) or _INDEXES not in given:
                self._add(tenant, f"must have {_INDEXES}, {_FORM}")
            else:
                for name in given.keys() - {_INDEXES}:
                    self._add(f"{tenant}.{name}", f"is not a setting; known: {_INDEXES}")
                yield tenant, IndexAccess(dict(self._indexes(tenant, given[_INDEXES])))

    def _indexes(self, tenant: str, given: object) -> Iterator[tuple[str, tuple[Filter, ...]]]:
        place = f"{tenant}.{_INDEXES}"
        if not isinstance(given, dict):
            self._add(place, f"must be names of indexes with their filters, {_FORM}")
            return
        for name, filters in given.items():
            inner = f"{place}.{name}"
            if not isinstance(name, str) or not (name == EVERY or is_index_name(name)):
                self._add(inner, f"the name {INDEX_NAME_RULE}, or {EVERY!r}, and a text")
            elif not isinstance(filters, dict):
                # Nothing could be a forgotten filter.
                text = "must be filters, such as {tenant: acme}, or {} for all passages"
                self._add(inner, text)
            else:
                yield name, tuple(self._filters(inner, filters))

    def _filters(self, place: str, given: Mapping[object, object]) -> Iterator[Filter]:
        found = []
        for name, values in given.items():
            inner = f"{place}.{name}"
            given_values: list[object] = values if isinstance(values, list) else [values]
            texts = [each for each in given_values if isinstance(each, str)]
            if not isinstance(name, str) or not is_field_name(name):
                self._add(inner, f"the field {FIELD_RULE}")
            elif len(texts) < len(given_values):
                self._add(inner, "must be a text or a list of texts: put the values in quotes")
            elif wrong := list(wrong_values(inner, texts, most=MAX_FILTER_VALUES)):
                for each in wrong:
                    self._add(each.field, each.description)
            else:
                found.append(Filter(name, tuple(texts)))
        for each in wrong_filters(found):
            self._add(place, f"the filters {each.description}")
        yield from found

    def _add(self, place: str, text: str) -> None:
        self.wrong.append(Violation(self.file.named(SECTION, place), text))
