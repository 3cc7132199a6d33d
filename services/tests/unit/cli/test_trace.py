import io
import re
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from scaar.cli.ask.trace import MARK, TracePrinter, usage_text
from scaar.core.types import (
    NOT_IN_DOCUMENTS,
    UNSUPPORTED,
    Abstention,
    AcceptedSentence,
    AnswerDrafted,
    AnswerEvent,
    AnswerFinished,
    AnswerStarted,
    CandidatesScored,
    ContinuationKind,
    FilteredPassage,
    FilteredSentence,
    GateJudged,
    JudgedWord,
    LogprobKind,
    MetadataField,
    Moment,
    PassagesFiltered,
    PassagesRetrieved,
    PromptRead,
    QueryBuilt,
    QuerySettings,
    RetrievalDecision,
    RetrievalWeighed,
    RetrievedPassage,
    ScoredCandidate,
    SearchDecision,
    SearchRequested,
    SentenceAccepted,
    SentenceJudged,
    SentenceRegenerated,
    SettingSource,
    Usage,
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
    ("kinds", "message"),
    [
        ({}, None),
        ({"logprob_kind": LogprobKind.RAW}, None),
        (
            {"continuation": ContinuationKind.RESTATED},
            "note  the model continues from restated text",
        ),
        (
            {"logprob_kind": LogprobKind.PROCESSED},
            "note  log-probabilities are processed, not the model's own",
        ),
    ],
)
def test_what_a_model_cannot_do_natively_is_noted(
    answered: list[AnswerEvent], kinds: dict[str, Any], message: str | None
) -> None:
    started = answered[0]
    assert isinstance(started, AnswerStarted)
    text = shown([replace(started, provenance=replace(started.provenance, **kinds))])
    assert message in text if message else "note" not in text


def test_an_uncertain_word_has_a_mark_and_its_threshold_below(
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


def test_a_certain_sentence_is_shown_as_accepted() -> None:
    sure = (JudgedWord("Ada", 0, 3, 0.9, 0.2, uncertain=False),)
    text = shown([SentenceJudged(0, "Ada", sure, None, retrieving=False)])
    assert "every word is certain enough: accepted" in text
    assert MARK not in text


def test_a_draft_without_contributions_is_marked() -> None:
    judged = SentenceJudged(0, "Ada.", (), None, retrieving=False, without_contributions=True)
    assert "! unscored  the scorer cannot read this draft" in shown([judged], width=120)
    usage = Usage(0, 1, 1, 1, 0.4, unscored_sentences=1)
    assert "1 prompt token, 1 sentence unscored, 0 ms" in usage_text(usage)


def test_a_trigger_after_the_budget_is_used_up_says_so(answered: list[AnswerEvent]) -> None:
    judged = answered[3]
    assert isinstance(judged, SentenceJudged)
    text = shown([replace(judged, retrieving=False)])
    assert f"{MARK} trigger" in text
    assert "but the budget is used up: accepted" in " ".join(text.split())


def test_a_probability_close_to_its_threshold_has_more_decimals() -> None:
    word = JudgedWord("Ada", 0, 3, 0.799_93, 0.8, uncertain=True)
    text = shown([SentenceJudged(0, "Ada", (word,), 0, retrieving=True)], width=120)
    assert "has probability 0.7999, below its threshold 0.8000" in text


def test_empty_results_queries_and_answers_are_shown(answered: list[AnswerEvent]) -> None:
    built, found, last = answered[4], answered[5], answered[-1]
    assert isinstance(built, QueryBuilt)
    assert isinstance(found, PassagesRetrieved)
    assert isinstance(last, AnswerFinished)
    text = shown(
        [
            replace(built, query=replace(built.query, fell_back=True)),
            replace(found, passages=()),
            AnswerFinished(replace(last.answer, answer="", sentences=())),
        ]
    )
    assert "(empty, replaced by the question)" in text
    assert "passages  none found" in text
    assert "answer  (none)" in text


def test_an_answer_without_a_short_form_is_shown_as_a_whole(answered: list[AnswerEvent]) -> None:
    last = answered[-1]
    assert isinstance(last, AnswerFinished)
    text = shown([AnswerFinished(replace(last.answer, answer=""))], width=200)
    assert f"answer  {last.answer.text.strip()}" in text


def test_a_long_passage_is_shown_by_its_beginning(answered: list[AnswerEvent]) -> None:
    found = answered[5]
    assert isinstance(found, PassagesRetrieved)
    text = "film " * 200_000
    text = shown([replace(found, passages=(replace(found.passages[0], text=text, title=""),))])
    assert "[1] p1" in text
    assert "…" in text
    assert len(text) < 500


def test_texts_of_models_and_passages_are_not_markup(answered: list[AnswerEvent]) -> None:
    again = answered[6]
    assert isinstance(again, SentenceRegenerated)
    assert "[/bold] [red]x[/]" in shown([replace(again, text=" [/bold] [red]x[/]")])


def test_the_draft_of_a_round_is_marked_as_not_accepted() -> None:
    text = shown([AnswerDrafted(2, " Ada was born in Paris.")])
    assert text == "  round 2  drafted: retrieve for it, write it again\n"


@pytest.mark.parametrize(
    ("probability", "said"),
    [(None, "Ada [born] searched\n"), (0.5, "searched, probability 0.50\n")],
)
def test_a_request_of_the_model_is_shown_with_its_thought_and_the_decision(
    probability: float | None, said: str
) -> None:
    decision = SearchDecision.SEARCHED
    text = shown([SearchRequested(1, "<think> [hm]", "Ada [born]", decision, probability)])
    assert "thinks  <think> [hm]\n" in text
    assert "request 1  Ada [born] " in text
    assert said in text


@pytest.mark.parametrize(
    ("probability", "decision", "said"),
    [
        (0.7, "retrieve", "retrieve: probability of retrieving 0.70, above the threshold 0.20\n"),
        (0.1, "skip", "skip: probability of retrieving 0.10, not above the threshold 0.20\n"),
        (0.9, "continue", "continue: the model prefers the last passage to another decision\n"),
    ],
)
def test_the_decision_of_reflection_tokens_is_shown_with_its_probability(
    probability: float, decision: str, said: str
) -> None:
    event = RetrievalWeighed(1, probability, 0.2, RetrievalDecision(decision))
    assert shown([event], width=200).endswith(f"segment 2  {said}")


def test_the_candidates_of_a_segment_are_shown_with_their_scores_and_the_kept_one() -> None:
    candidates = (
        ScoredCandidate("p1", " Ada [born].", 0.25, 0.5, -1.0, 0.75, 1.0),
        ScoredCandidate("p[2]", " Byron.", 1.0, 1.0, 1.0, 0.5, 3.0),
    )
    text = shown([CandidatesScored(0, candidates, 1)], width=200)
    assert "        1  Ada [born].\n" in text
    assert "      ▲ 2  Byron.  kept\n" in text
    assert "score 1.00: likelihood 0.75, relevance 0.25, support 0.50, utility -1.00" in text
    assert "from p[2]" in text


def test_a_policy_is_shown_with_the_settings_that_it_uses(answered: list[AnswerEvent]) -> None:
    started = answered[0]
    assert isinstance(started, AnswerStarted)
    made = started.provenance
    unjudged = replace(made.policy, trigger=None)
    never = replace(unjudged, name="no_retrieval", moments=())
    rounds = replace(
        unjudged,
        name="iter_retgen",
        moments=(Moment.BEFORE_ANSWER, Moment.AFTER_ANSWER),
        query=QuerySettings("full_context", include_question=True),
        rounds=3,
    )
    asks = replace(
        unjudged, name="model_asks", moments=(Moment.ON_REQUEST,), max_searches=2, skip_above=0.9
    )
    reflects = replace(
        unjudged,
        name="self_rag",
        moments=(Moment.ON_REFLECTION,),
        query=QuerySettings("last_sentence", include_question=True),
    )
    once = replace(unjudged, name="single_round", moments=(Moment.BEFORE_ANSWER,))
    counting = replace(
        made.policy,
        name="quco",
        trigger="corpus_counts",
        min_count=5,
        sources=(("min_count", SettingSource.REQUEST),),
    )
    for policy, said in (
        (counting, "policy  quco: trigger corpus_counts, theta 0.2, min_count 5 (requested)"),
        (never, "policy  no_retrieval\n"),
        (asks, "policy  model_asks: top_k 3, dialect search_r1, max_searches 2, skip_above"),
        (once, "policy  single_round: top_k 3\n"),
        (reflects, "policy  self_rag: query last_sentence, top_k 3, retrieve_above 0.2\n"),
        (rounds, "policy  iter_retgen: query full_context, top_k 3, rounds 3\n"),
    ):
        text = shown([AnswerStarted(replace(made, policy=policy, scorer="", index=""))])
        assert said in text
        assert "with  model lab-lm\n" in text


@pytest.mark.parametrize("name", ["pfq", "fused", "bridged"])
def test_a_query_that_uses_alpha_is_shown_with_it(answered: list[AnswerEvent], name: str) -> None:
    started = answered[0]
    assert isinstance(started, AnswerStarted)
    made = started.provenance
    policy = replace(made.policy, query=QuerySettings(name, include_question=True, alpha=40))
    text = shown([AnswerStarted(replace(made, policy=policy))], width=120)
    assert f"query {name}, alpha 40, top_k 3" in text


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        (
            0.75,
            "gate  flare answers: judgement 0.75 is at least the threshold 0.50",
        ),
        (0.25, "gate  no_retrieval answers: judgement 0.25 is below the threshold 0.50"),
    ],
)
def test_a_gate_is_shown_with_its_features(probability: float, message: str) -> None:
    features = {"rarest_frequency": 6.5e-6, "confidence": 0.787}
    policy = "flare" if probability >= 0.5 else "no_retrieval"
    judged = GateJudged("gece_proxy", policy, probability, 0.5, features)
    text = shown([judged], width=200)
    assert f"{message} (rarest frequency 6.5e-06, confidence 0.79)" in text


def test_the_number_of_passages_that_a_gate_chose_is_shown() -> None:
    text = shown([GateJudged("p_correct", "flare", 0.75, 0.5, {}, top_k=1)], width=200)
    assert "gate  flare with top_k 1 answers: judgement 0.75" in text


def test_the_choice_of_a_router_is_shown() -> None:
    judged = GateJudged("gece_proxy", "single_round", 0.9, 0.0, {"words": 4.0})
    text = shown([judged], width=200)
    assert "gate  single_round answers, chosen by gece_proxy (words 4)" in text


def test_usage_is_written_in_singular_and_plural() -> None:
    assert usage_text(Usage(1, 1, 1, 1, 0.4)) == (
        "1 retrieval, 1 model call, 1 generated token, 1 prompt token, 0 ms"
    )
    assert usage_text(Usage(0, 2, 0, 30, 1234.5)).startswith("0 retrievals, 2 model calls, ")


def test_usage_says_how_much_of_the_prompts_was_read() -> None:
    usage = Usage(0, 2, 5, 3000, 1.0, evaluated_prompt_tokens=1200)
    assert "3000 prompt tokens (1200 read)" in usage_text(usage)
    whole = replace(usage, evaluated_prompt_tokens=3000)
    assert "3000 prompt tokens, " in usage_text(whole)


def test_usage_distinguishes_thoughts_and_says_what_is_unknown() -> None:
    usage = Usage(0, 2, 5, 0, 1.0, thinking_tokens=30, uncounted_calls=2)
    assert "5 generated tokens, 30 thinking tokens, unknown prompt tokens" in usage_text(usage)
    some = replace(usage, prompt_tokens=7, thinking_tokens=0, uncounted_calls=1)
    assert "5 generated tokens, at least 7 prompt tokens" in usage_text(some)


def test_the_sentences_that_a_filter_keeps_are_shown() -> None:
    sentences = tuple(FilteredSentence(text, 0.5, text == "Ada.") for text in ("Ada.", "Byron."))
    passages = (FilteredPassage("p", sentences),)
    text = shown([PassagesFiltered(0, passages, 0.5, fell_back=False)], width=200)
    assert "filter  keeps Ada.\n" in text
    assert "1 of 2 sentences kept" in text
    assert "Byron" not in text
    text = shown([PassagesFiltered(0, passages, 0.5, fell_back=True)], width=200)
    assert "filter  no useful sentence: the whole passages are used" in text


def test_an_abstention_is_shown_with_its_probability_and_limit(answered: list[AnswerEvent]) -> None:
    *events, last = answered
    assert isinstance(last, AnswerFinished)
    answer = replace(last.answer, abstained=Abstention(0.21, 0.3))
    text = shown([*events, AnswerFinished(answer)])
    assert "! abstain  P(correct) 0.21 is below 0.30" in text
    assert f"answer  {answer.answer}" in text


def test_an_answer_that_is_not_in_the_documents_says_so(answered: list[AnswerEvent]) -> None:
    *events, last = answered
    assert isinstance(last, AnswerFinished)
    said = (AcceptedSentence(" The documents say nothing."),)
    refused = replace(last.answer, answer="", sentences=said, abstained=NOT_IN_DOCUMENTS)
    text = shown([*events, AnswerFinished(refused)])
    assert "answer  The documents say nothing.\n! abstain  not in the documents" in text


def test_an_answer_that_no_passage_supports_is_not_shown_as_one(
    answered: list[AnswerEvent],
) -> None:
    started, *events, last = answered
    assert isinstance(started, AnswerStarted)
    assert isinstance(last, AnswerFinished)
    policy = replace(started.provenance.policy, trigger="unsupported")
    words = (
        JudgedWord("port", 0, 4, None, 0.4, uncertain=False, value=0.0),
        JudgedWord("3306.", 5, 10, None, 0.4, uncertain=True, value=1.0),
    )
    judged = SentenceJudged(0, "port 3306.", words, 1, retrieving=False)
    text = shown(
        [
            AnswerStarted(replace(started.provenance, policy=policy)),
            *events,
            judged,
            AnswerFinished(replace(last.answer, abstained=UNSUPPORTED)),
        ],
        width=120,
    )
    assert f"{MARK} verify  not in the passages: 3306: no further search" in text
    assert "answer  (none)\n! abstain  not in the documents: no passage has what the model" in text


def test_a_terminal_shows_how_much_is_left_to_read_while_nothing_is_written() -> None:
    reading = [PromptRead(0, 3000, 0), PromptRead(0, 3000, 1500)]
    text = shown([*reading, GateJudged("gece_proxy", "single_round", 0.9, 0.0, {})], color=True)
    assert "reading 1,500 tokens" in text
    assert "single_round" in text[text.index("reading") :]
    assert "reading" not in shown(reading)


def test_the_sources_of_the_sentences_are_listed_once(answered: list[AnswerEvent]) -> None:
    def passage(name: str, **metadata: str) -> RetrievedPassage:
        fields = tuple(MetadataField(field, (value,)) for field, value in metadata.items())
        return RetrievedPassage(name, "Leave", "Leave is 28 days.", 1.0, 1, fields)

    assert "sources" not in shown(answered)
    leave = passage("p1", source="hr/leave.md", section="Leave > Annual leave")
    found = (leave, replace(leave, id="p2"), passage("p3", source="b.pdf", page="3"))
    unused = passage("p4", source="unused.md")
    names = ("p1", "p2", "p3", "p4")

    last = answered[-1]
    assert isinstance(last, AnswerFinished)

    def text_of(*accepted: AcceptedSentence, ended: AnswerFinished = last) -> str:
        events = [
            *answered[:-1],
            PassagesRetrieved(1, "handbook", "v1", (*found, unused)),
            *(SentenceAccepted(2, sentence, 41, 59) for sentence in accepted),
            ended,
        ]
        return shown(events).partition("answer  ")[2]

    accepted = AcceptedSentence(
        " Leave is 28 days.", names, supporting_passage_ids=("p1", "p2", "p3")
    )
    text = text_of(accepted)
    assert "  sources  hr/leave.md › Leave › Annual leave\n           b.pdf, page 3\n" in text
    assert "unused.md" not in text
    assert "“Leave is 28 days.”" not in text
    unsupported = replace(accepted, supporting_passage_ids=())
    text = text_of(accepted, unsupported, replace(unsupported, text=" It is paid."))
    assert "no passage seems to support “It is paid.”" in text
    text = text_of(unsupported)
    assert "no passage seems to support this answer\n" in text
    assert "  read  hr/leave.md › Leave › Annual leave\n" in text
    assert "           unused.md\n" in text
    refused = AnswerFinished(replace(last.answer, abstained=UNSUPPORTED))
    assert " searched  hr/leave.md" in text_of(accepted, ended=refused)
