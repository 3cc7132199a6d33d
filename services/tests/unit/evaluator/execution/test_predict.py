import math
from collections.abc import Iterable
from contextlib import aclosing

import pytest

from scaar.core.errors import BackendUnavailable
from scaar.core.gates import QuestionGate
from scaar.core.gates.fitted_model import FittedModel
from scaar.core.gates.p_correct import AnswerSignal, PCorrectGate, PlattCurve
from scaar.core.gates.proxy import GateProxy
from scaar.core.gates.word_statistics import WordStatistics
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.types import (
    Abstention,
    AnswerEvent,
    AnswerFinished,
    AnswerRequest,
    GenerateRequest,
    Passage,
    PolicyOverrides,
    PolicyRequest,
)
from scaar.evaluator.execution.prediction import NO_USAGE, predict
from scaar.evaluator.planning.work import Work
from scaar.evaluator.records import Failure, Question, Setting
from scaar.evaluator.replay import events_of
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.fakes import (
    SAMPLED_MODEL,
    SCRIPTED_MODEL,
    InMemoryRetriever,
    Piece,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)

QUESTION = Question("q1", "Where was Ada born?", ("London",), "Ada")
TEMPLATE = AnswerRequest("")


def script(request: GenerateRequest) -> list[Piece]:
    """Unsure of Paris on its own; with the passage, sure of London. Asks if it has tags to ask.

    Writes reflection tokens if they are named.
    """
    if request.named_tokens:
        if request.prefix.endswith("</paragraph>"):
            judged: list[Piece] = [("[Relevant]", -0.1), (" Ada was born in London.", -0.1)]
            return [*judged, ("[Fully supported]", -0.1), ("[No Retrieval]", -0.1)]
        return [(" So the answer is London." if request.prefix else "[Retrieval]", -0.1)]
    if "<search>" in request.prompt:
        if request.prefix.count("</information>") == 2:
            return [("<answer>London</answer>", -0.1)]
        return [("<think> hm </think><search> Ada born </search>", -0.1)]
    if request.prefix:
        return [(" So the answer is London.", -0.1)]
    place: Piece = (" London.", -0.01) if "in London" in request.prompt else (" Paris.", -1.7)
    return [(" Ada", -0.01), (" was born in", -0.1), place]


def work(policy: str) -> Work:
    return Work(Setting(policy, PolicyRequest(policy)), QUESTION)


def loop(gate: QuestionGate | None = None) -> AdaptiveLoop:
    passages = (Passage("p1", "Ada", "Ada was born in London."),)
    retriever = InMemoryRetriever({"lab": passages})
    return AdaptiveLoop(
        Ports(ScriptedGenerator(script), ScriptedScorer({}), LocalQueryBuilder(), retriever),
        gate=gate,
        default_index="lab",
    )


async def test_every_decision_is_stored_with_its_evidence() -> None:
    found = await predict(loop(), work("flare"), TEMPLATE)
    prediction = found.prediction
    assert (prediction.setting, prediction.question_id) == ("flare", "q1")
    assert (prediction.answer, prediction.usage.retrievals) == ("London", 1)
    assert prediction.text == "".join(decision.text for decision in prediction.decisions)
    judged, conclusion = prediction.decisions
    assert judged.draft == " Ada was born in Paris."
    assert judged.text == " Ada was born in London."
    assert judged.trigger is not None
    assert judged.words[judged.trigger].text == "Paris."
    assert judged.query is not None
    assert judged.query.text == "Ada was born in"
    assert judged.passage_ids == ("p1",)
    assert (conclusion.words, conclusion.query) == ((), None)
    assert found.provenance is not None
    assert found.provenance.policy.name == "flare"


async def test_a_retrieval_before_the_first_sentence_belongs_to_that_sentence() -> None:
    found = await predict(loop(), work("single_round"), TEMPLATE)
    first, _ = found.prediction.decisions
    assert first.passage_ids == ("p1",)
    assert (first.words, first.draft) == ((), "")


async def test_every_round_of_an_answer_is_stored_and_shown_again() -> None:
    answerer = loop()
    found = await predict(answerer, work("iter_retgen"), TEMPLATE)
    prediction = found.prediction
    text = prediction.text
    assert [each.text for each in prediction.rounds] == [text, text]
    assert "".join(each.text for each in prediction.decisions) == text
    retrievals = (*prediction.rounds, prediction.decisions[0])
    assert [each.passage_ids for each in retrievals] == [("p1",)] * 3
    texts = [each.query.text for each in retrievals if each.query is not None]
    assert texts == [QUESTION.question, *[f"{QUESTION.question}{text}"] * 2]
    assert prediction.usage.retrievals == 3
    async with aclosing(
        answerer.stream_answer(AnswerRequest(QUESTION.question, PolicyRequest("iter_retgen")))
    ) as events:
        kinds = [type(event).__name__ async for event in events]
    assert found.provenance is not None
    replayed = [type(event).__name__ for event in events_of(prediction, found.provenance)]
    apart = "TokenDrafted"
    assert [each for each in replayed if each != apart] == [each for each in kinds if each != apart]


async def test_every_request_of_the_model_is_stored_and_shown_again() -> None:
    found = await predict(loop(), work("model_asks"), TEMPLATE)
    prediction = found.prediction
    assert (prediction.answer, prediction.text) == ("London", "London")
    requests = [each.request for each in prediction.rounds]
    assert [each and each.decision for each in requests] == ["searched", "repeated"]
    assert [each.passage_ids for each in prediction.rounds] == [("p1",), ()]
    assert [each.text for each in prediction.decisions] == ["London"]
    assert found.provenance is not None
    replayed = [type(event).__name__ for event in events_of(prediction, found.provenance)]
    assert replayed == [
        *("AnswerStarted", "SearchRequested", "QueryBuilt", "PassagesRetrieved"),
        *("SearchRequested", "TokenDrafted", "SentenceAccepted", "AnswerFinished"),
    ]


async def test_the_decisions_and_candidates_of_reflection_are_stored_and_shown_again() -> None:
    reflecting = AdaptiveLoop(
        Ports(
            ScriptedGenerator(script, model=SAMPLED_MODEL),
            *(ScriptedScorer({}), LocalQueryBuilder()),
            InMemoryRetriever({"lab": (Passage("p1", "Ada", "Ada was born in London."),)}),
        ),
        default_index="lab",
    )
    found = await predict(reflecting, work("self_rag"), TEMPLATE)
    first, conclusion = found.prediction.decisions
    assert (first.text, first.passage_ids) == (" Ada was born in London.", ("p1",))
    assert first.weighed is not None
    assert first.weighed.decision == "retrieve"
    assert first.scored is not None
    assert [each.passage_id for each in first.scored.candidates] == ["p1"]
    assert conclusion.weighed is not None
    assert (conclusion.weighed.decision, conclusion.scored) == ("skip", None)
    assert found.provenance is not None
    replayed = [type(event).__name__ for event in events_of(found.prediction, found.provenance)]
    assert replayed == [
        *("AnswerStarted", "RetrievalWeighed", "QueryBuilt", "PassagesRetrieved"),
        *("CandidatesScored", "SentenceAccepted", "RetrievalWeighed", "SentenceAccepted"),
        "AnswerFinished",
    ]


async def test_the_judgement_of_a_gate_is_stored_with_the_prediction() -> None:
    words = WordStatistics("a list", {}, 0.1)
    gate = GateProxy("lm", "1", words, 0.0, (0.0, 0.0, 0.0), 0.6)
    requested = Work(
        Setting("gated", PolicyRequest("flare", PolicyOverrides(gate="gece_proxy"))), QUESTION
    )
    found = await predict(loop(gate), requested, TEMPLATE)
    assert found.prediction.gate is not None
    assert (found.prediction.gate.policy, found.prediction.usage.retrievals) == ("no_retrieval", 0)
    assert (await predict(loop(gate), work("flare"), TEMPLATE)).prediction.gate is None


async def test_a_condition_is_a_failed_prediction_without_usage() -> None:
    answerer = ScriptedAnswerer(lambda _: [BackendUnavailable("nobody answers")])
    found = await predict(answerer, work("scaar"), TEMPLATE)
    assert found.prediction.failure == Failure("BACKEND_UNAVAILABLE", "nobody answers")
    assert (found.prediction.answer, found.prediction.usage) == ("", NO_USAGE)
    assert found.provenance is None


async def test_an_answer_that_breaks_off_is_a_failed_prediction() -> None:
    def nothing(request: AnswerRequest) -> Iterable[AnswerEvent]:
        return []

    found = await predict(ScriptedAnswerer(nothing), work("scaar"), TEMPLATE)
    assert found.prediction.failure is not None
    assert found.prediction.failure.reason == "STREAM_INCOMPLETE"


@pytest.mark.parametrize(
    ("threshold", "abstain_below", "expected"),
    [(0.01, 0.99, True), (0.01, 0.5, False), (1.0, 0.99, False)],
)
async def test_an_answer_after_a_retrieval_abstains_below_the_limit_of_the_gate(
    threshold: float, abstain_below: float, expected: bool
) -> None:
    gate = PCorrectGate(
        "c0ffee",
        FittedModel(SCRIPTED_MODEL.model, SCRIPTED_MODEL.revision),
        AnswerSignal.MIN_PROBABILITY,
        PlattCurve(4.0, 2.0),
        threshold,
        abstain_below,
        64,
    )
    overrides = PolicyOverrides(gate="p_correct")
    setting = Setting("gated", PolicyRequest("single_round", overrides))
    found = await predict(loop(gate), Work(setting, QUESTION), TEMPLATE)
    prediction = found.prediction
    assert prediction.gate is not None
    # The closed-book answer has a token of log-probability -1.7, the final one none below -0.1.
    assert prediction.gate.probability == pytest.approx(1 - 1 / (1 + math.exp(4.8)))
    p_correct = 1 / (1 + math.exp(-1.6))
    abstained = Abstention(pytest.approx(p_correct), 0.99) if expected else None
    assert prediction.abstained == abstained
    assert prediction.answer == "London"
    assert prediction.usage.retrievals == (threshold < 1)
    assert found.provenance is not None
    assert found.provenance.gate_revision == "c0ffee"
    *_, last = events_of(prediction, found.provenance)
    assert isinstance(last, AnswerFinished)
    assert last.answer.abstained == prediction.abstained


async def test_a_gate_of_another_model_is_refused_before_any_work() -> None:
    model = FittedModel("another", "")
    gate = PCorrectGate(
        "c0ffee", model, AnswerSignal.MIN_PROBABILITY, PlattCurve(4.0, 2.0), 0.5, 0.0, 64
    )
    overrides = PolicyOverrides(gate="p_correct")
    setting = Setting("gated", PolicyRequest("single_round", overrides))
    found = await predict(loop(gate), Work(setting, QUESTION), TEMPLATE)
    assert found.provenance is None
    assert found.prediction.failure is not None
    assert found.prediction.failure.reason == "CAPABILITY_MISSING"
    assert "gate p_correct was fitted to model another" in found.prediction.failure.message
