"""Sets of examples: how they are named, what they show, and that no layout changed by them."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.core.prompts import PROFILES, profile_of
from scaar.core.prompts.conclusion import concludes, extract_answer
from scaar.core.prompts.exemplars import EXEMPLARS
from scaar.core.prompts.exemplars.exemplar_set import ExemplarSet
from scaar.core.text.sentences import split_sentences
from scaar.core.types import RetrievedPassage
from scaar.evaluator.datasets import KINDS

FOUND = (
    RetrievedPassage("p1", "Nosferatu", "A film of 1922.", 1.0, 1),
    RetrievedPassage("p2", "", "Max Schreck played in it.", 0.5, 2),
)
every_set = pytest.mark.parametrize("examples", EXEMPLARS.values(), ids=EXEMPLARS)


@pytest.mark.parametrize(
    ("name", "alone", "with_passages"),
    [
        ("lab@1", "0e784d041c2ba3d0", "e4d38899dd121d77"),
        ("scaar@1", "cdb608fbff559fca", "7b5ef6a560b9bd46"),
        ("scaar@2", "cdb608fbff559fca", "65e4d4f28aa63fe5"),
        ("dragin@1", "652a55755f07a588", "83654376d0633819"),
    ],
)
def test_a_version_of_a_layout_always_writes_the_same_prompt(
    name: str, alone: str, with_passages: str
) -> None:
    for found, digest in (((), alone), (FOUND, with_passages)):
        prompt = profile_of(name).render("Who played in Nosferatu?", found)
        assert hashlib.sha256(prompt.encode()).hexdigest().startswith(digest)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("dragin:strategyqa", "dragin@1:strategyqa@1"),
        ("dragin@1:strategyqa", "dragin@1:strategyqa@1"),
        ("dragin:strategyqa@1", "dragin@1:strategyqa@1"),
        ("dragin@1:strategyqa@1", "dragin@1:strategyqa@1"),
        ("scaar:general", "scaar@2"),
        ("scaar:hotpotqa", "scaar@2:hotpotqa@1"),
        ("scaar@1:general@1", "scaar@1"),
    ],
)
def test_a_profile_names_its_layout_and_its_examples(name: str, label: str) -> None:
    profile = profile_of(name)
    assert profile.label == label
    assert profile_of(profile.label) == profile


def test_the_general_examples_are_those_of_a_layout_that_names_none() -> None:
    assert profile_of("scaar:general") is profile_of("scaar")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dragin:", "no profile 'dragin:': the known sets of examples are general@1, 2wiki"),
        ("dragin:hotpotqa@2", "no profile 'dragin:hotpotqa@2': the known sets of examples are"),
        (
            "dragin@2:hotpotqa",
            "no profile 'dragin@2:hotpotqa'; known: lab@1, lab_chat@1, lab_search@1, scaar@2, "
            "scaar@1, instruct@1, dragin",
        ),
        (
            ":hotpotqa",
            "no profile ':hotpotqa'; known: lab@1, lab_chat@1, lab_search@1, scaar@2, scaar@1, "
            "instruct@1",
        ),
        ("lab:hotpotqa", "the layout lab shows no examples, so there is no 'lab:hotpotqa'"),
    ],
)
def test_an_unknown_or_impossible_profile_is_refused(name: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=re.escape(message)):
        profile_of(name)


@every_set
@pytest.mark.parametrize("layout", ["scaar", "dragin"])
def test_a_layout_with_other_examples_replaces_the_default_ones(
    layout: str, examples: ExemplarSet
) -> None:
    own = profile_of(layout).render("Who?", FOUND)
    shown = profile_of(f"{layout}:{examples.name}").render("Who?", FOUND)
    assert shown == own.replace(EXEMPLARS["general"].text, examples.text)
    assert shown.count("\nAnswer:") == len(examples.examples) + 1


@every_set
def test_an_example_concludes_in_the_way_that_the_loop_reads(examples: ExemplarSet) -> None:
    for requested, answer in examples.examples:
        *steps, conclusion = split_sentences(answer)
        assert steps
        assert concludes(conclusion)
        assert not any(concludes(step) for step in steps)
        found = extract_answer(answer)
        assert found is not None
        assert answer.endswith(f" So the answer is {found}.")
        assert "\n" not in requested + answer


def test_the_sets_have_as_many_examples_as_the_papers_show() -> None:
    sizes = {name: len(examples.examples) for name, examples in EXEMPLARS.items()}
    assert (sizes["2wikimultihopqa"], sizes["hotpotqa"], sizes["iirc"]) == (6, 8, 8)
    assert sizes["strategyqa"] == 8


def test_an_example_answers_as_its_data_set_is_measured() -> None:
    for name, allowed in (("strategyqa", {"yes", "no"}), ("mmlu", {"A", "B", "C", "D"})):
        answers = {extract_answer(answer) for _, answer in EXEMPLARS[name].examples}
        assert answers == allowed


def test_no_question_is_shown_twice() -> None:
    requested = [requested for examples in EXEMPLARS.values() for requested, _ in examples.examples]
    assert len(set(requested)) == len(requested)


def test_every_data_set_names_examples_that_there_are() -> None:
    for kind in KINDS.values():
        if kind.exemplars:
            assert profile_of(f"dragin:{kind.exemplars}").exemplars is EXEMPLARS[kind.exemplars]
    assert {each.name for each in PROFILES.values()} == {
        "lab",
        "lab_chat",
        "lab_search",
        "scaar",
        "instruct",
        "dragin",
        "self_rag",
        "plain",
    }


NEAR = 0.6
"""The share of content words in common from which two questions count as near."""
_PLAIN = frozenset(
    "a an and are as at be been by did do does for from had has have how in is it its many much of "
    "on or than that the this to was were what when where which who whom with".split()
)


def content(question: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", question.lower())) - _PLAIN


def questions_in(folder: Path) -> Iterator[str]:
    for path in folder.glob("*/*.jsonl"):
        with path.open() as lines:
            for line in lines:
                question = json.loads(line).get("question")
                if isinstance(question, str):
                    yield question


@pytest.mark.real_data
def test_no_example_is_near_a_question_of_the_data_sets(real_data: Path) -> None:
    known = {content(question) for question in questions_in(real_data)}
    assert len(known) > 10_000
    for examples in EXEMPLARS.values():
        for requested, _ in examples.examples:
            words = content(requested.split(" (A) ")[0])
            nearest = max(known, key=lambda other: len(words & other) / len(words | other))
            assert len(words & nearest) / len(words | nearest) < NEAR, (requested, nearest)
