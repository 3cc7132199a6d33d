"""Test the statistics of the experiment on sentence forms, on drafts made by hand."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from random import Random

import numpy as np
import pytest

from record.forms.arms import arms_of, score_request
from record.forms.detection import (
    FilmSamples,
    FormDetection,
    Key,
    aurocs,
    found_shares,
    read_detections,
)
from record.forms.drafts import Draft, path_of, read_drafts, store_rows
from record.forms.effects import finding, gain, slope
from record.forms.page import write_page
from record.forms.plan import ARMS, CONSTANT, MODELS, RIVALS, SCORER, TRIGGERS
from scaar.core.errors import NotFound
from scaar.core.types import Token
from scaar.evaluator.statistics.detection import auroc
from scaar.lab.sentences import FORMS, SentenceForm, WordKind, state_facts
from scaar.lab.sentences.questions import draw_facts
from scaar.lab.world import build_world

FILMS = 40
TRIGGER = TRIGGERS[0]


def detection(form: SentenceForm, advantage: Mapping[str, float], seed: int = 0) -> FormDetection:
    """Return drafts of a form, on which each arm separates wrong from right by its advantage."""
    chance = np.random.default_rng(seed)
    wrong = np.arange(2 * FILMS) % 2 == 0
    noise = chance.normal(size=2 * FILMS)
    scores: dict[Key, np.ndarray] = {
        (trigger, arm): noise + wrong * advantage.get(arm, 0.5)
        for trigger in TRIGGERS
        for arm in ARMS
    }
    films = tuple(f"film {number % FILMS}" for number in range(2 * FILMS))
    return FormDetection(MODELS[0], form, films, wrong, scores, 2 * FILMS, 1.0, 0.5)


def test_the_weighted_auroc_is_that_of_the_repeated_drafts() -> None:
    chance = np.random.default_rng(1)
    scores, wrong = chance.integers(0, 5, 30).astype(float), chance.random(30) < 0.4
    weights = chance.integers(0, 3, (4, 30)).astype(float)
    for value, counts in zip(aurocs(scores, wrong, weights), weights, strict=True):
        at = np.repeat(np.arange(30), counts.astype(int))
        assert value == pytest.approx(auroc(scores[at], wrong[at]))
    assert math.isnan(aurocs(scores, np.zeros(30, bool), weights)[0])


def test_the_share_found_is_that_of_wrong_drafts_among_as_many_as_are_wrong() -> None:
    once = np.ones((1, 4))
    wrong = np.array([True, False, True, False])
    assert found_shares(np.array([4.0, 3.0, 2.0, 1.0]), wrong, once)[0] == pytest.approx(0.5)
    assert found_shares(np.array([4.0, 1.0, 3.0, 2.0]), wrong, once)[0] == pytest.approx(1.0)
    assert found_shares(np.array([1.0, 1.0, 1.0, 1.0]), wrong, once)[0] == pytest.approx(0.5)
    assert found_shares(np.array([2.0, 2.0, 1.0, 1.0]), wrong, once)[0] == pytest.approx(0.5)
    doubled = np.array([[2.0, 1.0, 0.0, 1.0]])
    assert found_shares(np.array([4.0, 3.0, 2.0, 1.0]), wrong, doubled)[0] == pytest.approx(1.0)
    assert math.isnan(found_shares(np.ones(4), np.zeros(4, bool), once)[0])


def test_a_gain_that_rises_with_free_words_has_a_positive_slope() -> None:
    forms = [form for form in FORMS if form.facts == 1 and form.words > 7 and not form.padded]
    rising = [detection(form, {SCORER: 0.5 + 2 * form.free}) for form in forms]
    level = [detection(form, {SCORER: 1.0}) for form in forms]
    found = slope(rising, FilmSamples(rising), TRIGGER, SCORER).estimate
    assert found.low is not None
    assert found.low > 0
    found = slope(level, FilmSamples(level), TRIGGER, SCORER).estimate
    assert found.value == pytest.approx(0, abs=0.02)


def test_forms_without_other_rates_have_no_slope() -> None:
    alone = [detection(SentenceForm(7, 1, 0.0), {})]
    assert slope(alone, FilmSamples(alone), TRIGGER, SCORER).estimate.value is None


@pytest.mark.parametrize(
    ("advantage", "expected"),
    [
        ({SCORER: 2.0}, "a gain over constant, idf and content_mask"),
        ({SCORER: 2.0, "idf": 2.0}, "no gain can be claimed"),
        ({SCORER: 0.501}, "no effect of 0.01"),
        ({SCORER: 0.2}, "no gain can be claimed"),
    ],
)
def test_a_gain_is_claimed_only_over_every_rival(
    advantage: Mapping[str, float], expected: str
) -> None:
    forms = [form for form in FORMS if form.free > 0 and not form.padded]
    detections = [detection(form, advantage, seed) for seed, form in enumerate(forms)]
    samples = FilmSamples(detections)
    assert finding(detections, samples, TRIGGER) == expected
    over = gain(detections, samples, ((TRIGGER, SCORER), (TRIGGER, CONSTANT)))
    assert over.detectable > 0
    assert set(RIVALS) <= set(ARMS)


def test_arms_have_a_contribution_for_every_word() -> None:
    texts = (" The", " Iron", " Sea", " was", " firmly", " by", " Ann", " Lee", ".")
    logprobs = (-0.01, -0.01, -0.01, -0.01, -2.0, -0.01, -0.5, -0.7, -0.01)
    starts = [sum(map(len, texts[:at])) for at in range(len(texts))]
    tokens = tuple(
        Token(1, text, start, start + len(text), logprob)
        for text, start, logprob in zip(texts, starts, logprobs, strict=True)
    )
    kinds = "subject subject subject fixed free relation value value".split()
    draft = Draft("18/1/1", "The Iron Sea", tokens, (False,), tuple(map(WordKind, kinds)), 2.0)
    scored = (0.1, 0.2, 0.2, 0.0, 0.1, 0.1, 0.4, 0.5)
    (arms,) = arms_of([draft], [scored])
    assert set(arms) == set(ARMS)
    assert all(len(each) == len(scored) for each in arms.values())
    assert arms[CONSTANT][0] == pytest.approx(0.2)
    assert sorted(arms["permuted"]) == sorted(scored)
    assert set(arms["random"]) <= set(scored)
    assert arms["content_mask"][3:5] == (0.0, 0.0)
    assert arms["content_mask"][6:] == (1.0, 1.0)
    assert arms["oracle_mask"][4] < arms["oracle_mask"][6]
    assert arms["idf"][0] < arms["idf"][7]
    assert score_request(draft).question == "The Iron Sea:"


def test_a_page_needs_results(tmp_path: Path) -> None:
    assert read_detections(tmp_path) == []
    with pytest.raises(NotFound, match="run the experiment first"):
        write_page(tmp_path, tmp_path / "docs")
    assert path_of(tmp_path, "drafts", "m", SentenceForm(12, 1, 0.5, padded=True)).name == (
        "12-1-0.5-padded.jsonl"
    )
    with pytest.raises(NotFound):
        read_drafts(tmp_path, MODELS[0], FORMS[0])


def drafts_of(form: SentenceForm) -> list[Draft]:
    """Return drafts of a form, half of them wrong and less probable in their values."""
    random = Random(form.name)
    drafts = []
    for number, film in enumerate(build_world(1001).known[:20]):
        wrong = number % 2 == 0
        words = state_facts(draw_facts(film, form, random), form, random).words
        tokens: list[Token] = []
        for word in words:
            text, start = f" {word.text}", tokens[-1].end if tokens else 0
            unsure = wrong and word.kind is WordKind.VALUE
            likely = {True: 0.2, False: math.exp(-word.surprisal)}[unsure] * random.uniform(0.8, 1)
            tokens.append(Token(1, text, start, start + len(text), math.log(likely)))
        labels = (not wrong,) * form.facts
        kinds = tuple(word.kind for word in words)
        drafts.append(Draft(form.name, film.title, tuple(tokens), labels, kinds, 1.0))
    return drafts


def test_the_page_is_made_from_what_is_stored(tmp_path: Path) -> None:
    forms = [form for form in FORMS if (form.words, form.facts) == (18, 2)]
    for form in forms:
        drafts = drafts_of(form)
        unread = Draft(form.name, "The Iron Sea", (), (), (), 0.0)
        costs = [[float(kind is WordKind.VALUE) for kind in each.kinds] for each in drafts]
        store_rows(path_of(tmp_path, "drafts", MODELS[0], form), map(asdict, [*drafts, unread]))
        store_rows(path_of(tmp_path, "contributions", MODELS[0], form), [*costs, []])
        assert read_drafts(tmp_path, MODELS[0], form) == [*drafts, unread]
    detections = read_detections(tmp_path)
    samples = FilmSamples(detections, resamples=200)
    assert [each.drafted - len(each.wrong) for each in detections] == [1] * len(forms)
    assert [each.style_share > 0 for each in detections] == [form.free > 0 for form in forms]
    free = [each for each in detections if each.form.free > 0]
    over = gain(free, samples, (("surprisal", SCORER), ("surprisal", CONSTANT)))
    assert over.estimate.low is not None
    assert over.estimate.low > 0, "weights of the values alone hide improbable style"
    page = write_page(tmp_path, tmp_path / "docs").read_text()
    assert "84 drafts of `lab-lm-forms`: 80 are sentences of the world, and 40 of these" in page
    assert "- `surprisal`: the gain of `scorer` over `constant` rises by +0." in page
    assert "`scorer` differs in AUROC from `constant` by +0." in page
    assert all(f"| {form.name} |" in page for form in forms)


def test_a_form_without_a_readable_draft_has_no_auroc(tmp_path: Path) -> None:
    form = FORMS[0]
    unread = Draft(form.name, "The Iron Sea", (), (), (), 0.0)
    store_rows(path_of(tmp_path, "drafts", MODELS[0], form), [asdict(unread)])
    store_rows(path_of(tmp_path, "contributions", MODELS[0], form), [[]])
    (only,) = read_detections(tmp_path)
    assert len(only.wrong) == 0
    assert math.isnan(aurocs(only.scores[TRIGGER, SCORER], only.wrong, np.ones((1, 0)))[0])
