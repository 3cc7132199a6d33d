import json
from itertools import pairwise
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.text.sentences import SentenceSplitter, split_sentences

# "|" marks where one sentence ends and the next begins.
MARKED = (
    "Kamon Lakov died on 3 June 1951.| So the answer is 3 June 1951.",
    "Nosferatu was directed by F.W. Murnau.| F.W. Murnau was born in Bielefeld.",
    "It was written by J. R. R. Tolkien.| He taught at Oxford.",
    "B. B. King and A. A. Milne met J. I. Packer and K. S. R. Das.| K. S. R. Das won.",
    "Coolie No. 1 (1995 film) was directed by David Dhawan.| Coolie No. 1 is a comedy.",
    "So the answer is no.| The other one was older.",
    "It lies in St. Louis.| St. Louis is in Missouri.| He lives on Main St.| The house is old.",
    "The U.S. Open is played in the U.S.| It began in 1881.| So the answer is the U.S.",
    "She works for Acme Inc.| The firm is small.| Acme Inc. President Ann Lee left.",
    "It belongs to Mars, Inc.| Mars, Inc. is in McLean.",
    "He was the brother of Bajirao I.| Bajirao I ruled until 1740.",
    "Edward Carroll, better known as E.J. Carroll, and his son E.J. Carroll were actors.",
    "The store is in Oakland, CA.| Sponsors came early.",
    "His father is George Duning Jr.| So the answer is George Duning Jr.",
    "Mr. Smith met Dr. No.| Dr. No was played by Joseph Wiseman.| Mrs. Bell and Prof. Lee left.",
    "The town has 15,140 people.| It grew by 3.5 percent.| 200 of them are actors.",
    "Some fruits, e.g. Apples and i.e. Pears, cf. Plums, are sweet.| They grow on trees.",
    "He rose at 7 a.m. Eastern time.| He slept at 11 p.m.| He was tired.",
    "Smith v. Jones was heard vs. Time itself.| It was lost.",
    "She waited... and waited.| Then she left...| The end of Per Amore... Per Magia was near.",
    'He said "Stop."| Then he left.| (It was late.)| She left \\"Home\\".| "Why?" he asked.',
    'Who was he?!| He was "the Boot".| “Yes!”| ‘No.’| So be it.',
    "Airplane! (1980) is funny.| What Ever Happened to Baby Jane? is not.| Is it?| Yes.",
    "It was found in 1951.[1][2] and lost.| It was found in 1951.[3]| It was sold.",
    "The films are\nold and\ngood.| They are long.\n",
    "No stop here|\n\nA new paragraph| \n \n Another.",
    "Steps:| \n\n1. Find the film.|\n2. Find the director.|\n3. Ask him.",
    "The steps are: 1. Find the film.| It is old.",
    "他死于1951年。|他是谁？|「他是导演。」|答案是“他”。",
    "यह एक फिल्म है।| वह निर्देशक है।",
    "Pay at www.example.org/a.b now.| Version 2.0.1 is out.",
    "**He won.**| _She lost._| • It rained.|\n- No more.",
    "The share is Tiffany & Co.| It is old.| Smith & Co. & Sons closed.",
    "He was born in Jan. 1990.| He died in Dec.| It was cold.",
    "See Fig. 3 and Vol. II and p. 7.| See art. 5 of modern art.| It is new.",
    "Malcolm X.| He was born in Omaha.| The crew is Plan B.| They win.",
    "Wahoo! Inc. was sold.| It was made by Kaboom! Ltd. in 1999.| Wahoo!| Incas lived there.",
    "The group is N.B.A.| N.B.A. was founded in 1987.| Dr. Dr. Low and J. J. Low left.",
    "Ann Low (born Jan. 5, 1920) wrote Sonata No. 5, Op. 27 No. 2.| Ángel Low died.",
)
TEXTS = tuple(marked.replace("|", "") for marked in MARKED)

fragments = st.sampled_from(
    [
        *(
            "The",
            "He",
            "Murnau",
            "won",
            "it",
            "So",
            "I",
            "J",
            "U.S",
            "Inc",
            "No",
            "St",
            "Mr",
            "e.g",
            *("der", "März", "Mär", "EE", "UU", "Hauptstr", "他", "と"),
        ),
        *(
            "1951",
            "3.5",
            "1",
            "(",
            ")",
            '"',
            "“",
            "”",
            "[1]",
            "[",
            "]",
            "*",
            "\\",
            "-",
            "。",
            "？",
            "「",
            "」",
        ),
        *(
            ".",
            ".",
            ".",
            "...",
            "…",
            "!",
            "?",
            " ",
            " ",
            " ",
            "  ",
            "\n",
            "\n\n",
            "\u3000",
            "好",
            "ß",
        ),
        *(" " * 50, "x" * 50, ":", ",", "\r\n"),
        *("\n- ", "\n  * ", "\n1. ", "\n12. ", "\na) ", "\n| a. B |", "\n## ", "\n```", "\n    "),
        *("- ", "1. ", "|", "#", "`", "~~~", "-", "\t", "、"),
    ]
)
texts = st.lists(fragments, max_size=40).map("".join) | st.text(max_size=60)


def fed(pieces: list[str]) -> tuple[str, ...]:
    splitter = SentenceSplitter()
    sentences: list[str] = []
    for piece in pieces:
        sentences.extend(splitter.feed(piece))
    rest = splitter.flush()
    assert splitter.pending == ""
    return (*sentences, rest) if rest else tuple(sentences)


@pytest.mark.parametrize("marked", MARKED)
def test_sentences_end_where_a_reader_ends_them(marked: str) -> None:
    assert split_sentences(marked.replace("|", "")) == tuple(marked.split("|"))


# "¦" marks where one sentence ends and the next begins.
STRUCTURED = (
    "The facts are:¦\n- Bread is old. ¦It rises.¦\n- Bread is baked¦\n- Bread is eaten.",
    "Here:¦\n\n1. One¦\n2. Two:¦\n   a) Three¦\n   b) Four¦\n3. Five¦\n\nThat is all.",
    "* An item that\n  continues here¦\n* Another one¦\nprose again\nand again.",
    "| Name | Born |¦\n|---|---|¦\n| A. Low. She | 3. Juni |¦\n| B | 1951 |¦\nThe end.",
    "# Bread¦\nIt is baked.¦ It is old.¦\n## History of bread¦\n\nIt began.",
    "Run this:¦\n```python¦\nx = 1. # One. Two¦\n\n    print(x)¦\n- y¦\n```¦\nIt prints.¦ Done.",
    "Like so:¦\n\n    x = a.b. Cd¦\n    y = 2¦\n\nIt works.¦ Well.",
    "Hard-wrapped prose with a number of\n19. Jahrhundert and\n1990.¦ It goes\non - and on.",
    "A dash in\n-5 degrees and **bold**\n**text** and #tag\n#tag stay in a sentence.",
    "1、面包很老。¦\n2、面包很好",
)


@pytest.mark.parametrize("marked", STRUCTURED)
def test_items_rows_code_and_headings_end_with_their_line(marked: str) -> None:
    marked = marked.replace(". ¦", ".¦ ")
    text, whole = marked.replace("¦", ""), tuple(marked.split("¦"))
    assert split_sentences(text) == whole
    for first in range(len(text) + 1):
        assert fed([text[:first], text[first:]]) == whole
    assert fed(list(text)) == whole


@given(texts, st.data())
def test_a_text_after_some_of_its_sentences_has_the_others(text: str, data: st.DataObject) -> None:
    sentences = split_sentences(text)
    first = data.draw(st.integers(0, len(sentences)))
    splitter = SentenceSplitter("".join(sentences[:first]))
    found = splitter.feed("".join(sentences[first:]))
    rest = splitter.flush()
    assert (*found, *([rest] if rest else [])) == sentences[first:]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_cut_in_two_or_three_anywhere_has_the_same_sentences(text: str) -> None:
    whole = split_sentences(text)
    for first in range(len(text) + 1):
        assert fed([text[:first], text[first:]]) == whole
        second = min(len(text), first + 3)
        assert fed([text[:first], text[first:second], text[second:]]) == whole
    assert fed(list(text)) == whole


@given(texts, st.data())
def test_any_text_cut_anyhow_has_the_same_sentences_and_is_their_concatenation(
    text: str, data: st.DataObject
) -> None:
    whole = split_sentences(text)
    assert "".join(whole) == text
    assert all(whole)
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=10).map(sorted))
    assert fed([text[a:b] for a, b in pairwise([0, *cuts, len(text)])]) == whole
    assert fed(list(text)) == whole


@given(texts)
def test_white_space_precedes_a_sentence_and_only_the_last_may_end_with_it(text: str) -> None:
    *complete, _ = split_sentences(text) or ("",)
    assert all(not sentence[-1].isspace() for sentence in complete)


@given(texts, st.integers(0, 200))
def test_pending_is_what_no_complete_sentence_holds(text: str, cut: int) -> None:
    splitter = SentenceSplitter()
    sentences = splitter.feed(text[:cut])
    assert "".join(sentences) + splitter.pending == text[:cut]


@given(texts, st.integers(0, 200), st.data())
def test_certainty_depends_only_on_the_sentence(text: str, cut: int, data: st.DataObject) -> None:
    splitter = SentenceSplitter()
    complete = splitter.feed(text[:cut])
    rest = text[cut:] if data.draw(st.booleans()) else data.draw(texts)
    pending = split_sentences(text[:cut] + rest)[len(complete) :] or ("",)
    assert splitter.certain <= len(pending[0])
    assert splitter.certain <= len(splitter.pending)


def test_words_are_certain_immediately_and_an_undecided_end_waits() -> None:
    splitter = SentenceSplitter()
    certain = []
    for piece in (" She", " ", "left", " the", " U.S.", " H", "e", " stayed"):
        splitter.feed(piece)
        certain.append(splitter.certain)
    assert certain == [4, 4, 9, 13, 18, 18, 18, len(" He stayed")]


def test_a_sentence_is_complete_as_soon_as_the_next_one_begins() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed(" Kamon Lakov died on 3 June 1951.") == ()
    assert splitter.feed(" ") == ()
    assert splitter.feed("S") == (" Kamon Lakov died on 3 June 1951.",)
    assert splitter.pending == " S"
    assert splitter.feed("o the answer is 3 June 1951.") == ()
    assert splitter.flush() == " So the answer is 3 June 1951."


def test_an_abbreviation_waits_for_the_whole_next_word() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("It began in the U.S. H") == ()
    assert splitter.feed("e") == ()
    assert splitter.feed(" ") == ("It began in the U.S.",)


def test_one_piece_may_complete_several_sentences() -> None:
    assert SentenceSplitter().feed("He came. He saw. He won.") == ("He came.", " He saw.")


def test_a_splitter_is_as_new_after_a_flush() -> None:
    splitter = SentenceSplitter()
    splitter.feed("word " * 50 + "U.S.")
    splitter.flush()
    assert splitter.feed("1. One. T") == ("1. One.",)


def test_nothing_has_no_sentence_and_space_is_one() -> None:
    assert split_sentences("") == ()
    assert split_sentences(" \n\n ") == (" \n\n ",)


@pytest.mark.parametrize("unit", [" word", "漢", " B.", "\nline", " Mr. X", " (e.g. a)"])
def test_a_long_sentence_takes_linear_time_whole_or_in_pieces(unit: str) -> None:
    def seconds(count: int) -> float:
        started = process_time()
        assert fed([unit] * count) == fed([unit * count])
        return process_time() - started

    assert len(fed([unit] * 10_000)) == 1
    # Quadratic time would be 64 times as long for 8 times the text.
    limit = 24 * max(seconds(5_000), 0.005)
    assert any(seconds(40_000) < limit for _ in range(3))


@pytest.mark.real_data
def test_real_drafts_have_the_same_sentences_in_one_piece_and_by_the_letter(
    real_data: Path,
) -> None:
    rows = (real_data / "hotpotqa" / "hotpotqa_1000.dev.jsonl").read_text(encoding="utf-8")
    for line in rows.splitlines():
        draft = json.loads(line)["llama3_8b_cot_no_retrieval"]
        sentences = split_sentences(draft)
        assert "".join(sentences) == draft
        assert fed(list(draft)) == sentences
