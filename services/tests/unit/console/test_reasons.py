"""Why an answer searched, or did not, in one sentence."""

from dataclasses import replace

import pytest

from scaar.console.judgement_reasons import judgement_reason
from scaar.console.search_reasons import SearchPlace, policy_reason, search_reason
from scaar.console.thresholds import legend_of
from scaar.core.policies import PRESETS
from scaar.core.policies.effective_settings import effective_policy
from scaar.core.types import (
    EffectivePolicy,
    FirstSearch,
    JudgedWord,
    PolicyOverrides,
    PolicyRequest,
    SentenceJudged,
    SettingSource,
)
from scaar.testing.fakes import SCRIPTED_MODEL

BEFORE = SearchPlace(is_before_writing=True, by_question=True)


def policy(name: str, **settings: object) -> EffectivePolicy:
    overrides = PolicyOverrides(**settings)  # type: ignore[arg-type]
    return effective_policy(PolicyRequest(name, overrides), SCRIPTED_MODEL)


def word(probability: float | None, threshold: float, **facts: object) -> JudgedWord:
    found = JudgedWord("Ordor", 0, 5, probability, threshold, uncertain=True)
    return replace(found, **facts)  # type: ignore[arg-type]


def reason(
    judged: JudgedWord, policy: EffectivePolicy, *, retrieving: bool = True, uncertain: bool = True
) -> str:
    trigger = 0 if uncertain else None
    event = SentenceJudged(0, " Ordor", (judged,), trigger, retrieving)
    return judgement_reason(event, policy).text


def test_a_raised_threshold_is_explained_by_the_contribution_of_the_word() -> None:
    scaar = policy("scaar", theta=0.8)
    assert reason(word(0.262, 1.0, contribution=0.42, capped=True), scaar) == (
        "It searched because Ordor has probability 0.26, below its threshold, raised from 0.80 to "
        "1.00 because the word contributes 0.42 to the meaning."
    )
    assert reason(word(0.99999, 1.0, contribution=0.42, capped=True), scaar) == (
        "It searched because Ordor has probability 1.00, but its threshold was raised from 0.80 "
        "beyond 1 because the word contributes 0.42 to the meaning."
    )


def test_a_threshold_that_all_words_share_is_explained_by_its_source() -> None:
    assert reason(word(0.12, 0.3), policy("flare", theta=0.3)) == (
        "It searched because Ordor has probability 0.12, below the threshold 0.3, the same for "
        "every word (from the request)."
    )
    assert "(from the paper of the method)" in reason(word(0.12, 0.8), policy("flare"))


def test_an_unknown_probability_is_said_to_count_as_0() -> None:
    text = reason(word(None, 0.3), policy("flare", theta=0.3))
    assert "has no known probability, which counts as 0, below the threshold 0.3" in text


def test_two_numbers_have_the_decimals_in_which_they_differ() -> None:
    text = reason(word(0.79996, 0.8), policy("flare"))
    assert "has probability 0.799960, below the threshold 0.8" in text


def test_a_trigger_of_values_names_the_value_and_its_evidence() -> None:
    text = reason(
        word(0.5, 1.3, value=1.42, entropy=2.0, attention=0.71), policy("dragin", theta=1.3)
    )
    assert text == (
        "It searched because Ordor has the value 1.42 (entropy 2.00, attention 0.71) by the "
        "trigger rind, above the threshold 1.3, the same for every word (from the request)."
    )


def test_a_sentence_that_is_judged_as_a_whole_names_the_word_that_weighs_most() -> None:
    perplexity = policy("perplexity", theta=1.4)
    judged = word(0.5, 1.4, value=1.8, uncertain=False)
    assert reason(judged, perplexity) == (
        "It searched because the sentence has the value 1.80 by the trigger perplexity, above the "
        "threshold 1.40; Ordor weighs most."
    )
    kept = reason(replace(judged, value=1.2), perplexity, retrieving=False, uncertain=False)
    assert kept == (
        "It kept the draft, because the sentence has the value 1.20 by the trigger perplexity, "
        "not above the threshold 1.40."
    )


def test_a_certain_draft_names_the_word_that_comes_closest() -> None:
    words = (
        JudgedWord("The", 0, 3, 0.99, 0.8, uncertain=False),
        JudgedWord("film", 4, 8, 0.81, 0.8, uncertain=False),
        # A stop word that the trigger spares.
        JudgedWord("was", 9, 12, 0.1, 0.8, uncertain=False),
    )
    event = SentenceJudged(0, "The film was", words, None, retrieving=False)
    assert judgement_reason(event, policy("flare")).text == (
        "It kept the draft, because no word is uncertain: the closest, film, has probability "
        "0.81, not below its threshold 0.80."
    )


def test_a_budget_that_is_used_up_is_named() -> None:
    text = reason(word(0.12, 0.8), policy("flare"), retrieving=False)
    assert text.startswith("Uncertain: Ordor has probability 0.12, below the threshold 0.8")
    assert text.endswith("The budget of retrievals is used up: the draft was kept.")


@pytest.mark.parametrize("retrieving", [True, False])
def test_a_draft_that_says_that_the_model_does_not_know_is_named(retrieving: bool) -> None:
    event = SentenceJudged(0, "I do not know.", (), None, retrieving, abstains=True)
    text = judgement_reason(event, policy("flare")).text
    assert "the draft says that the model does not know" in text.lower()
    assert ("It searched with the question" in text) == retrieving


def test_a_word_of_a_record_without_texts_is_named_by_its_place() -> None:
    assert "word 1 has probability" in reason(word(0.12, 0.8, text=""), policy("flare"))


@pytest.mark.parametrize(
    ("name", "place", "text"),
    [
        ("single_round", BEFORE, "It searched once, with the question, before writing."),
        ("flare_reference", BEFORE, "It searched with the question before writing."),
        ("iter_retgen", BEFORE, "It searched with the question before writing."),
        (
            "iter_retgen",
            SearchPlace(round=1),
            "It searched with the answer of round 1, to write the answer again.",
        ),
        (
            "ircot",
            SearchPlace(by_question=True),
            "It searched with the question, as it does before every sentence.",
        ),
        ("fixed_length", SearchPlace(), "It searched, as it does before every 16 tokens."),
        (
            "model_asks",
            SearchPlace(is_requested=True),
            "It searched because the model asked for it.",
        ),
    ],
)
def test_a_search_without_a_draft_says_when_the_policy_makes_it(
    name: str, place: SearchPlace, text: str
) -> None:
    assert search_reason(place, policy(name)).text == text


def test_searches_that_follow_mentions_are_not_said_to_be_the_only_one() -> None:
    mentions = policy("single_round", first_search=FirstSearch.MENTIONS)
    assert search_reason(BEFORE, mentions).text == "It searched with the question before writing."
    second = replace(BEFORE, earlier=1, by_question=False)
    assert search_reason(second, mentions).text == (
        "It searched again before writing, for what the question still asks for."
    )


@pytest.mark.parametrize("name", [preset for preset in PRESETS if not PRESETS[preset].moments])
def test_a_policy_that_never_searches_says_so(name: str) -> None:
    assert policy_reason(policy(name)).text == f"The policy {name} never searches."


def test_the_legend_states_the_thresholds_that_were_used() -> None:
    words = (word(0.2, 0.82, contribution=0.02), word(0.2, 1.0, contribution=0.4))
    scaar = policy("scaar", theta=0.8)
    assert legend_of(words, scaar) == (
        "threshold 0.82 to 1.00: θ 0.8 (from the request) raised by contribution"
    )
    assert legend_of([word(0.2, 0.8)], policy("flare")) == (
        "threshold 0.8, the same for every word (from the paper of the method)"
    )


def test_every_source_of_a_threshold_has_words() -> None:
    flare = policy("flare")
    for source in SettingSource:
        of_source = replace(flare, sources=(("theta", source),))
        assert "the same for every word (" in reason(word(0.1, flare.theta), of_source)
