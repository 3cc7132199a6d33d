"""Gates without a file on the lab's model: each judgement recomputed from what the model writes."""

import math
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import combinations, zip_longest

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from rouge_score.rouge_scorer import RougeScorer

from scaar.compose import open_orchestrator
from scaar.core.ports import Answerer, Generator
from scaar.core.types import (
    AnswerRequest,
    GateJudged,
    GenerateRequest,
    LogprobsRequest,
    PolicyOverrides,
    PolicyRequest,
    Token,
)
from scaar.generator.factory import open_generator
from scaar.generator.settings import GeneratorSettings
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.sockets import answerer_by

KNOWN = "Who directed the film The Haunted Fountain?"
UNKNOWN = "Who is the director of The Hollow Beacon?"
STOP = ("\nQuestion:",)
LAST_LAYER = 3


@pytest.fixture
async def generator() -> AsyncIterator[Generator]:
    async with open_generator(GeneratorSettings(model=model_folder(LAB_LM))) as engine:
        yield engine


async def judged(answerer: Answerer, question: str, gate: str) -> GateJudged:
    policy = PolicyRequest("single_round", PolicyOverrides(gate=gate))
    request = AnswerRequest(question, policy=policy)
    async with aclosing(answerer.stream_answer(request)) as events:
        return await anext(each async for each in events if isinstance(each, GateJudged))


async def written(generator: Generator, question: str, **fields: object) -> list[list[Token]]:
    """Return the tokens of every sample."""
    request = GenerateRequest(f"Question: {question}\nAnswer:", stop=STOP, **fields)  # type: ignore[arg-type]
    samples: list[list[Token]] = [[] for _ in range(request.n)]
    async for event in generator.generate(request):
        if isinstance(event, Token):
            samples[event.sample].append(event)
    return samples


async def test_the_margin_and_the_entropy_are_those_of_the_models_logits(
    generator: Generator,
) -> None:
    graph = onnx.load(model_folder(LAB_LM) / "model.onnx").graph
    (tensor,) = (each for each in graph.initializer if each.name == "embed")
    embeddings = numpy_helper.to_array(tensor)
    async with open_orchestrator() as (answerer, _):
        for question in (KNOWN, UNKNOWN):
            (tokens,) = await written(generator, question, max_tokens=20, hidden_layer=LAST_LAYER)
            logits = np.array([each.hidden_state for each in tokens]) @ embeddings.T
            logits -= logits.max(axis=1, keepdims=True)
            shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            highest = np.sort(logits, axis=1)[:, ::-1]
            margin = float(np.exp(highest[:, 1] - highest[:, 0]).mean())
            entropy = float(-(shares * np.log(np.maximum(shares, 1e-30))).sum(axis=1).mean())
            by_margin = await judged(answerer, question, "targ")
            assert by_margin.probability == pytest.approx(margin, abs=1e-4)
            assert by_margin.features["tokens"] == len(tokens)
            by_entropy = await judged(answerer, question, "targ_entropy")
            assert by_entropy.features["uncertainty"] == pytest.approx(entropy, abs=1e-4)
            assert by_entropy.probability == pytest.approx(1 - math.exp(-entropy), abs=1e-4)


async def test_samples_give_the_variance_and_the_similarity_of_rouge_score(
    generator: Generator,
) -> None:
    drafts = await written(generator, UNKNOWN, max_tokens=20, temperature=0.7, n=3, seed=0)
    modes = [
        Counter(each).most_common(1)[0][1] / 3
        for each in zip_longest(*([token.id for token in draft] for draft in drafts))
    ]
    answers = await written(generator, UNKNOWN, max_tokens=128, temperature=1.0, n=10, seed=0)
    texts = ["".join(token.text for token in answer) for answer in answers]
    ends = [text.rpartition("the answer is ")[2] for text in texts]
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    pairs = [scorer.score(*pair)["rougeL"].fmeasure for pair in combinations(ends, 2)]
    async with open_orchestrator() as (answerer, _):
        variance = await judged(answerer, UNKNOWN, "targ_variance")
        assert variance.probability == pytest.approx(1 - sum(modes) / len(modes))
        similarity = await judged(answerer, UNKNOWN, "lexsim")
    assert 0 < similarity.features["similarity"] < 1
    assert similarity.features["similarity"] == pytest.approx(sum(pairs) / len(pairs))


async def test_seakr_is_the_spread_of_the_last_states_of_the_samples(generator: Generator) -> None:
    request = GenerateRequest(
        f"Question: {UNKNOWN}\nAnswer:",
        stop=STOP,
        max_tokens=100,
        temperature=1.0,
        n=20,
        seed=0,
        hidden_layer=1,
    )
    states: dict[int, tuple[float, ...]] = {}
    async for event in generator.generate(request):
        if isinstance(event, Token) or getattr(event, "hidden_state", ()):
            states[event.sample] = event.hidden_state  # type: ignore[union-attr]
    z = np.array(list(states.values()))
    centred = z - z.mean(axis=1, keepdims=True)
    _, log = np.linalg.slogdet(centred @ centred.T + 1e-3 * np.eye(len(z)))
    async with open_orchestrator() as (answerer, _):
        found = await judged(answerer, UNKNOWN, "seakr")
        assert found.features["answers"] == len(z) == 20
        assert found.features["uncertainty"] == pytest.approx(float(log) / 20, abs=1e-3)


async def test_a_gate_judges_the_same_over_grpc(
    generator: Generator,
) -> None:
    async with open_orchestrator() as (embedded, _), answerer_by("grpc", embedded) as remote:
        for gate in ("targ", "lexsim", "seakr", "p_true", "verbalised"):
            found = await judged(remote, UNKNOWN, gate)
            assert found == await judged(embedded, UNKNOWN, gate)
            if gate == "p_true":
                p_true, p_options = found.features["p_true"], found.features["p_options"]
    (answer,) = await written(generator, UNKNOWN, max_tokens=128)
    end = "".join(token.text for token in answer).rpartition("the answer is ")[2].rstrip(".")
    prompt = (
        f"Question: {UNKNOWN}\nProposed answer: {end}\nIs the proposed answer:\n"
        " (A) True\n (B) False\nThe proposed answer is:"
    )
    true, false = [
        math.prod(math.exp(each.logprob or 0.0) for each in read.tokens)
        for read in [
            await generator.compute_logprobs(LogprobsRequest(prompt, option))
            for option in (" (A)", " (B)")
        ]
    ]
    assert p_options == pytest.approx(true + false)
    assert p_true == pytest.approx(true / (true + false))
