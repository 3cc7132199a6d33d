import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.filters import (
    MAX_EXCLUDED,
    check_declared,
    fits,
    is_field_name,
    newest_excluded,
    wrong_excluded,
    wrong_filters,
)
from scaar.core.types import AnswerRequest, Filter, MetadataField
from scaar.core.validation import validate

ACME, ENGLISH = Filter("tenant", ("acme",)), Filter("lang", ("en", "de"))


@pytest.mark.parametrize("name", ["a", "tenant", "a_1", "a" * 64])
def test_a_field_may_be_called_so(name: str) -> None:
    assert is_field_name(name)


@pytest.mark.parametrize("name", ["", "A", "1a", "_a", "a-b", "a.b", "a" * 65, "ä", "a\n"])
def test_a_field_may_not_be_called_so(name: str) -> None:
    assert not is_field_name(name)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ((ACME,) * 17, "filters: must be at most 16, not 17"),
        (
            (ACME, Filter("Lang", ("en",))),
            "filters[1].field: must be a letter a to z, then at most 63 of a-z, 0-9 and '_', "
            "not 'Lang'",
        ),
        ((Filter("lang", ()),), "filters[0].values: must have 1 to 256 values, not 0"),
        ((Filter("lang", ("a",) * 257),), "filters[0].values: must have 1 to 256 values, not 257"),
        (
            (Filter("lang", ("en", "x" * 257)),),
            "filters[0].values[1]: must have 1 to 256 characters, not 257",
        ),
        (
            (Filter("lang", ("a\x00",)),),
            "filters[0].values[0]: holds the control character U+0000 at 1",
        ),
        (
            (Filter("lang", ("\ud83d",)),),
            "filters[0].values[0]: holds the control character U+D83D at 0",
        ),
    ],
)
def test_an_invalid_filter_is_refused_before_any_work(
    filters: tuple[Filter, ...], expected: str
) -> None:
    assert [str(each) for each in wrong_filters(filters)] == [expected]
    with pytest.raises(InvalidRequest) as caught:
        validate(AnswerRequest("Who?", filters=filters))
    assert caught.value.message == expected


def test_filters_at_their_limits_are_fine() -> None:
    longest = Filter("a" * 64, ("x" * 256,) * 64)
    many = Filter("a" * 64, ("x" * 16,) * 256)
    few = Filter("a" * 64, ("x",))
    validate(AnswerRequest("Who?", filters=(longest, many, many, many, *(few,) * 12)))


@pytest.mark.parametrize(
    ("filters", "limit"),
    [
        ((Filter("a", ("x",) * 256),) * 4 + (Filter("a", ("x",)),), "1,024 values together"),
        ((Filter("a", ("x" * 256,) * 129),), "32,768 characters in all values together"),
    ],
)
def test_the_values_of_all_filters_together_are_limited(
    filters: tuple[Filter, ...], limit: str
) -> None:
    with pytest.raises(InvalidRequest, match=limit) as caught:
        validate(AnswerRequest("Who?", filters=filters))
    assert [each.field for each in caught.value.violations] == ["filters"]


def test_fields_that_are_not_declared_are_named_with_those_that_are() -> None:
    check_declared((ACME, ENGLISH), ("lang", "tenant"), index="geo")
    with pytest.raises(InvalidRequest) as caught:
        check_declared((ACME, ENGLISH), ("tenant",), index="geo")
    assert caught.value.message == (
        "filters[1].field: the index 'geo' declares no 'lang' (its fields: tenant)"
    )


def test_a_passage_fits_by_any_value_of_every_filter() -> None:
    of_acme = MetadataField("tenant", ("acme", "beta"))
    german = MetadataField("lang", ("de",))
    assert fits((of_acme, german), (ACME, ENGLISH))
    assert fits((), ())
    assert not fits((of_acme,), (ACME, ENGLISH))
    assert not fits((MetadataField("lang", ("acme",)),), (ACME,))


def test_a_request_excludes_the_newest_ids_within_the_limits() -> None:
    ids = tuple(f"p{n}" for n in range(MAX_EXCLUDED + 2))
    assert newest_excluded(ids) == ids[2:]
    long = tuple(str(n) * 500 for n in range(8)) * 10
    assert newest_excluded(long) == long[-65:]
    assert wrong_excluded(newest_excluded(long)) == []
