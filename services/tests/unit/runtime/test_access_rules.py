"""The section of an identities file that names the indexes of tenants."""

from pathlib import Path

import pytest

from scaar.core.access import EVERY_INDEX, NO_INDEX, IndexAccess
from scaar.core.errors import InvalidRequest
from scaar.core.types import Filter
from scaar.runtime.identities import Identities

TOKENS = f"tokens: {{{'a' * 64}: acme}}\n"
MANY = ", ".join(f"f{at}: x" for at in range(17))


def read(tmp_path: Path, rules: str) -> Identities:
    path = tmp_path / "identities.yaml"
    path.write_text(TOKENS + rules)
    return Identities.read(path)


def test_a_tenant_reads_the_listed_indexes_with_their_filters(tmp_path: Path) -> None:
    rules = """
tenants:
  acme:
    indexes:
      acme-docs: {}
      shared: {tenant: acme, lang: [en, de]}
  operations:
    indexes: {"*": {}}
  nobody:
    indexes: {}
"""
    found = read(tmp_path, rules)
    shared = (Filter("tenant", ("acme",)), Filter("lang", ("en", "de")))
    assert found.access_of("acme") == IndexAccess({"acme-docs": (), "shared": shared})
    assert found.access_of("operations") == EVERY_INDEX
    assert found.access_of("nobody") == found.access_of("unlisted") == NO_INDEX


def test_without_the_section_every_tenant_reads_every_index(tmp_path: Path) -> None:
    assert read(tmp_path, "").access_of("acme") == EVERY_INDEX


@pytest.mark.parametrize("rules", ["tenants: {}", "tenants:"])
def test_with_an_empty_section_no_tenant_reads_an_index(tmp_path: Path, rules: str) -> None:
    assert read(tmp_path, rules).access_of("acme") == NO_INDEX


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("{' x': {indexes: {}}}", "tenants. x: the tenant must be printable ASCII"),
        ("{acme: {}}", "tenants.acme: must have indexes, such as"),
        ("{acme: [docs]}", "tenants.acme: must have indexes, such as"),
        ("{acme: {indexes: {}, filters: {}}}", "tenants.acme.filters: is not a setting"),
        ('{acme: {indexes: "*"}}', "must be names of indexes with their filters, such as"),
        ("{acme: {indexes: [docs]}}", "tenants.acme.indexes: must be names of indexes"),
        ("{acme: {indexes: {Docs: {}}}}", "tenants.acme.indexes.Docs: the name must be 1 to 64"),
        ("{acme: {indexes: {7: {}}}}", "tenants.acme.indexes.7: the name must be 1 to 64"),
        ("{acme: {indexes: {docs: }}}", "tenants.acme.indexes.docs: must be filters, such as"),
        ("{acme: {indexes: {docs: all}}}", "tenants.acme.indexes.docs: must be filters, such as"),
        ("{acme: {indexes: {docs: {Lang: en}}}}", "docs.Lang: the field must be a letter a to z"),
        ("{acme: {indexes: {docs: {lang: no}}}}", "docs.lang: must be a text or a list of texts"),
        ("{acme: {indexes: {docs: {lang: [en, 7]}}}}", "docs.lang: must be a text or a list"),
        ("{acme: {indexes: {docs: {lang: }}}}", "docs.lang: must be a text or a list of texts"),
        ("{acme: {indexes: {docs: {lang: []}}}}", "docs.lang: must have 1 to 256 values, not 0"),
        ("{acme: {indexes: {docs: {lang: ''}}}}", r"docs.lang\[0\]: must have 1 to 256 charac"),
        (f"{{acme: {{indexes: {{docs: {{{MANY}}}}}}}}}", "docs: the filters must be at most 16"),
        ("{acme: {indexes: {docs: {}, docs: {a: b}}}}", "'docs' is given twice"),
    ],
)
def test_an_invalid_rule_is_reported_with_its_place(
    tmp_path: Path, rules: str, expected: str
) -> None:
    with pytest.raises(InvalidRequest, match=expected):
        read(tmp_path, f"tenants: {rules}")


def test_every_invalid_rule_is_reported_beside_every_other_problem(tmp_path: Path) -> None:
    path = tmp_path / "identities.yaml"
    path.write_text(
        "tokens: {short: acme}\nusers: {}\n"
        "tenants: {acme: {indexes: {Docs: {}, docs: {lang: [7]}}}, globex: {}}\n"
    )
    with pytest.raises(InvalidRequest) as caught:
        Identities.read(path)
    assert [each.field.removeprefix(f"{path}: ") for each in caught.value.violations] == [
        "users",
        "tokens.shor...",
        "tenants.acme.indexes.Docs",
        "tenants.acme.indexes.docs.lang",
        "tenants.globex",
    ]
