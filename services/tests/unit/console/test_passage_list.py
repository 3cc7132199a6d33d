"""Retrieved passages: their names, and what did not change."""

import pytest

from scaar.console.passage_list import PassageList
from scaar.console.passage_names import (
    PassageLink,
    PassageNames,
    name_of,
    passages_text,
    short_name,
)
from scaar.core.types import MetadataField, PassagesRetrieved, RetrievedPassage


def passage(name: str, **fields: str) -> RetrievedPassage:
    metadata = tuple(MetadataField(field, (value,)) for field, value in fields.items())
    return RetrievedPassage(name, f"title of {name}", "text", 1.0, 1, metadata)


def found(*names: str) -> PassagesRetrieved:
    return PassagesRetrieved(0, "lab", "1", tuple(map(passage, names)))


def test_a_passage_is_named_by_its_place_else_its_title_else_its_id() -> None:
    placed = passage("p", source="leave.md", section="Leave > Parental leave")
    assert name_of(placed) == "leave.md › Leave › Parental leave"
    assert name_of(passage("p")) == "title of p"
    assert name_of(RetrievedPassage("p", "", "", 1.0, 1)) == "p"


def test_two_passages_of_one_section_are_one_name_that_links_to_the_first() -> None:
    names = PassageNames()
    passages = (passage("p/1", source="leave.md"), passage("q", source="leave.md"), passage("r"))
    names.add(PassagesRetrieved(0, "lab", "1", passages))
    assert names.of(["p/1", "r", "q", "unknown"]) == (
        PassageLink("leave.md", "/passages/lab/p%2F1"),
        PassageLink("title of r", "/passages/lab/r"),
        PassageLink("unknown"),
    )


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("leave.md › Leave › Parental leave", "leave.md › Leave › Parental leave"),
        (
            "hr/policies/leave.md › Leave of absence › Family › Parental leave of employees",
            "leave.md › … › Parental leave of employees",
        ),
        ("t" * 100, "t" * 100),
    ],
)
def test_a_long_name_keeps_its_file_and_its_last_heading(name: str, short: str) -> None:
    assert short_name(name) == short


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "no passages"), (1, "one passage"), (3, "three passages"), (11, "11 passages")],
)
def test_a_number_of_passages_is_in_words(count: int, text: str) -> None:
    assert passages_text(count) == text


def test_passages_that_were_found_before_are_apart() -> None:
    listed = PassageList()
    first = listed.add(found("a", "b", "c"))
    assert (first.heading, first.repeated) == ("It found three passages", "")
    second = listed.add(found("b", "d"))
    assert [view.passage.id for view in second.new] == ["d"]
    assert second.repeated == "and one passage found before"
    same = listed.add(found("d", "b"))
    assert not same.new
    assert same.repeated == "It found the same two passages as before"
    assert listed.add(found("a")).repeated == "It found one passage that it had found before"
    assert listed.add(found()).heading == "It found no passages"


def test_a_sentence_says_what_it_was_written_with_once() -> None:
    listed = PassageList()
    listed.add(found("a", "b"))
    texts = [
        listed.written_with(ids, searched=False) for ids in (["a", "b"], ["b", "a"], [], [], ["a"])
    ]
    assert [written.text for written in texts] == [
        "Written with these two passages.",
        "Written with the same two passages as before.",
        "Written without passages.",
        "Written without passages.",
        "Written with one passage",
    ]
    assert [written.is_same for written in texts] == [False, True, False, True, False]
    assert [written.is_above for written in texts] == [True, True, True, True, False]


def test_a_sentence_below_its_own_search_says_nothing_of_it() -> None:
    listed = PassageList()
    listed.add(found("a", "b"))
    assert listed.written_with(["a", "b"], searched=True).text == ""
