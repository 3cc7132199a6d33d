"""Titles that a question or a text mentions."""

import pytest

from scaar.core.text.mentions import Mentions

MENTIONS = Mentions("who directed NOSFERATU?", ["Murnau's film “Sunrise” has no options."])


@pytest.mark.parametrize(
    "title",
    [
        "Nosferatu",
        "Nosferatu (1922 film)",
        "Murnau",
        "Sunrise",
        "Murnau's film",
        "Films > Silent > Sunrise",
    ],
)
def test_a_title_is_mentioned_by_its_words_in_a_row(title: str) -> None:
    assert MENTIONS.have(title)


@pytest.mark.parametrize("title", ["", " ", "()", "Options", "Sun", "film has", "Sunrise > Films"])
def test_other_titles_are_not_mentioned(title: str) -> None:
    assert not MENTIONS.have(title)


def test_a_title_in_a_script_without_spaces_is_mentioned_by_its_characters() -> None:
    assert Mentions("《诺斯费拉图》的导演是谁？").have("诺斯费拉图")
