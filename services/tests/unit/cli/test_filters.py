import pytest

from scaar.cli.ask.filters import parse_filters
from scaar.core.errors import InvalidRequest
from scaar.core.types import Filter


@pytest.mark.parametrize(
    ("given", "filter_"),
    [
        ("tenant=acme", Filter("tenant", ("acme",))),
        ("lang=en,de", Filter("lang", ("en", "de"))),
        ("url=https://a.example/?b=c", Filter("url", ("https://a.example/?b=c",))),
        ('city="Paris, Texas",Rome', Filter("city", ("Paris, Texas", "Rome"))),
        ('said="a ""word"""', Filter("said", ('a "word"',))),
        ("lang= en", Filter("lang", (" en",))),
    ],
)
def test_a_filter_is_a_field_and_its_values(given: str, filter_: Filter) -> None:
    assert parse_filters([given, "a=b"]) == (filter_, Filter("a", ("b",)))


@pytest.mark.parametrize("given", ["", "tenant", "tenant=", 'tenant="acme', 'tenant="a"b'])
def test_an_invalid_filter_is_reported(given: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_filters(["a=b", given])
    assert caught.value.message == f"--filter: must be field=value or field=a,b, not {given!r}"
