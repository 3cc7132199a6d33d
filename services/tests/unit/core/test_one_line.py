"""Texts as a part of a message."""

from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.one_line import one_line


@given(st.text(), st.integers(1, 50))
def test_any_text_is_one_short_printable_line(text: str, length: int) -> None:
    line = one_line(text, length=length)
    assert len(line) <= length
    assert all(map(str.isprintable, line))


def test_white_space_becomes_single_spaces_and_control_characters_are_left_out() -> None:
    assert one_line("  a\n b\t\x1b[0m \x00 c", length=20) == "a b [0m c"
