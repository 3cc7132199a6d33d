import pytest

from scaar.core.plurals import are, counted, plural


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 passages are"),
        (1, "1 passage is"),
        (2, "2 passages are"),
        (1_000, "1,000 passages are"),
    ],
)
def test_a_count_agrees_with_its_noun_and_its_verb(count: int, text: str) -> None:
    assert f"{counted(count, 'passage')} {are(count)}" == text


def test_a_noun_in_y_has_its_plural() -> None:
    assert [plural(count, "entity") for count in (1, 2)] == ["entity", "entities"]
    assert plural(0.5, "query") == "queries"
