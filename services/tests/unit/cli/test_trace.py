import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from scaar.cli.trace import MARK, TracePrinter, bill_text
from scaar.core.types import (
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    ContinuationKind,
    Gate,
    GateJudged,
    JudgedWord,
    LogprobKind,
    PassagesRetrieved,
    QueryBuilt,
    SentenceJudged,
    SentenceRegenerated,
    Usage,
    When,
)


def shown(events: list[AnswerEvent], *, width: int = 80, color: bool = False) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        no_color=not color,
        color_system="truecolor" if color else None,
        legacy_windows=False,
    )
    trace = TracePrinter(console)
    for event in events:
        trace.show(event)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_whole_answer_is_readable_without_colour(answered: list[AnswerEvent]) -> None:
    text = shown(answered)
    assert "\x1b" not in text
    for said in (
        "   policy  scaar: trigger exp_raw, theta 0.2 (the model's)",
        "model lab-lm, scorer lab-cross-encoder, index lab",
        "  draft 1  Ada [Paris].",
        "  trigger  [Paris]. has no known probability, which counts as 0",
        "    query  Where was Ada [born]? Ada",
        "passages  [1] [Ada]  Ada was [bold]born[/] in London.",
        "    again  Ada [London].",
        "  draft 2  So the answer is London 🙂.",
        "   answer  London 🙂",
        "1 retrieval, 3 model calls, 17 generated tokens, 230 prompt tokens",
    ):
        assert said in text.replace(MARK, " "), said


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ({}, None),
        ({"logprob_kind": LogprobKind.RAW}, None),
        (
            {"continuation": ContinuationKind.RESTATED},
            "note  the model goes on from restated text",
        ),
        (
            {"logprob_kind": LogprobKind.PROCESSED},
            "note  log-probabilities are processed, not the model's own",
        ),
    ],
)
def test_what_a_model_cannot_do_natively_is_noted(
    answered: list[AnswerEvent], kinds: dict[str, Any], told: str | None
) -> None:
    started = answered[0]
    assert isinstance(started, AnswerStarted)
    text = shown([replace(started, provenance=replace(started.provenance, **kinds))])
    assert told in text if told else "note" not in text


def test_an_uncertain_word_has_a_mark_and_stands_below_its_threshold(
    answered: list[AnswerEvent],
) -> None:
    lines = shown(answered).splitlines()
    words = next(at for at, line in enumerate(lines) if line.split() == ["Ada", "[Paris].", MARK])
    assert lines[words + 1].split() == ["0.98", "?"]
    assert lines[words + 2].split() == ["≥", "0.25", "<", "0.95"]
    assert lines[words].index("[Paris].") == lines[words + 2].index("<"), "in one column"


def test_colour_adds_nothing_that_the_text_does_not_say(answered: list[AnswerEvent]) -> None:
    coloured = shown(answered, color=True)
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert plain.split() == shown(answered).split()


@pytest.mark.parametrize("width", [40, 60, 200])
def test_the_trace_fits_the_terminal(answered: list[AnswerEvent], width: int) -> None:
    wide = [
        JudgedWord(f"word{number}", 0, 1, 0.5, 0.2 + number / 100, uncertain=number > 30)
        for number in range(40)
    ]
    judged = SentenceJudged(0, "", tuple(wide), 31, retrieving=False)
    text = shown([*answered[:3], judged, *answered[4:]], width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert text.count("<") == 9
    assert text.count("≥") == 31


def test_a_sure_sentence_is_told_to_be_accepted() -> None:
    sure = (JudgedWord("Ada", 0, 3, 0.9, 0.2, uncertain=False),)
    text = shown([SentenceJudged(0, "Ada", sure, None, retrieving=False)])
    assert "every word is sure enough: accepted" in text
    assert MARK not in text


def test_a_trigger_that_nothing_is_left_for_says_so(answered: list[AnswerEvent]) -> None:
    judged = answered[3]
    assert isinstance(judged, SentenceJudged)
    text = shown([replace(judged, retrieving=False)])
    assert f"{MARK} trigger" in text
    assert "nothing is left to spend on it: accepted" in " ".join(text.split())


def test_a_probability_hardly_below_its_threshold_is_told_apart_from_it() -> None:
    word = JudgedWord("Ada", 0, 3, 0.799_93, 0.8, uncertain=True)
    text = shown([SentenceJudged(0, "Ada", (word,), 0, retrieving=True)], width=120)
    assert "has probability 0.7999, below its threshold 0.8000" in text


def test_nothing_found_nothing_to_ask_and_no_answer_are_told(answered: list[AnswerEvent]) -> None:
    built, found, last = answered[4], answered[5], answered[-1]
    assert isinstance(built, QueryBuilt)
    assert isinstance(found, PassagesRetrieved)
    assert isinstance(last, AnswerFinished)
    text = shown(
        [
            replace(built, query=replace(built.query, fell_back=True)),
            replace(found, passages=()),
            AnswerFinished(replace(last.answer, answer="")),
        ]
    )
    assert "(nothing to ask: the question)" in text
    assert "passages  none found" in text
    assert "answer  (none)" in text


def test_a_long_passage_is_shown_by_its_beginning(answered: list[AnswerEvent]) -> None:
    found = answered[5]
    assert isinstance(found, PassagesRetrieved)
    text = "film " * 200_000
    text = shown([replace(found, passages=(replace(found.passages[0], text=text, title=""),))])
    assert "[1] p1" in text
    assert "…" in text
    assert len(text) < 500


def test_what_a_model_or_a_passage_writes_is_no_markup(answered: list[AnswerEvent]) -> None:
    again = answered[6]
    assert isinstance(again, SentenceRegenerated)
    assert "[/bold] [red]x[/]" in shown([replace(again, text=" [/bold] [red]x[/]")])


def test_a_policy_is_told_by_the_settings_that_matter_to_it(answered: list[AnswerEvent]) -> None:
    started = answered[0]
    assert isinstance(started, AnswerStarted)
    made = started.provenance
    never = replace(made.policy, name="no_retrieval", when=When.NEVER)
    once = replace(made.policy, name="single_round", when=When.ONCE)
    for policy, said in (
        (never, "policy  no_retrieval\n"),
        (once, "policy  single_round: top_k 3\n"),
    ):
        text = shown([AnswerStarted(replace(made, policy=policy, scorer="", index=""))])
        assert said in text
        assert "with  model lab-lm\n" in text


@pytest.mark.parametrize(
    ("probability", "told"),
    [
        (0.75, "gate  long-tail, 0.75 being at least its threshold 0.50: the policy may retrieve"),
        (0.25, "gate  common, 0.25 being below its threshold 0.50: nothing is retrieved"),
    ],
)
def test_a_gate_is_told_with_what_it_judged_by(probability: float, told: str) -> None:
    judged = GateJudged(
        Gate.GECE_PROXY, probability >= 0.5, probability, 0.5, 0.0321, 6.5e-6, confidence=0.787
    )
    text = shown([judged], width=200)
    assert told in text
    assert "(words' frequency 0.032, the rarest's 6.5e-06, draft's confidence 0.79)" in text


def test_the_bill_counts_one_and_many() -> None:
    assert bill_text(Usage(1, 1, 1, 1, 0.4)) == (
        "1 retrieval, 1 model call, 1 generated token, 1 prompt token, 0 ms"
    )
    assert bill_text(Usage(0, 2, 0, 30, 1234.5)).startswith("0 retrievals, 2 model calls, ")
