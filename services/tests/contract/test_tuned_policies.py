"""Tuned policies by name, over sockets and embedded: provenance, refusals, and their list."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from scaar.core.errors import InvalidRequest, PolicyMismatch
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.loop.loop import AdaptiveLoop, Ports
from scaar.core.policies import PRESETS
from scaar.core.policies.artefacts import TunedPolicies, described_policies, mismatches
from scaar.core.policies.checks import check_policy
from scaar.core.ports import Answerer, Catalog
from scaar.core.types import (
    Answer,
    AnswerFinished,
    AnswerRequest,
    Passage,
    PolicyArtefact,
    PolicyOverrides,
    PolicyRequest,
    SettingSource,
    TuningConditions,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.testing.artefacts import LEARNED, artefact_of
from scaar.testing.fakes import InMemoryRetriever, Piece, ScriptedGenerator, ScriptedScorer
from scaar.testing.sockets import TRANSPORTS, serving
from scaar.wire.orchestrator import OrchestratorServicer, RemoteAnswerer, RemoteCatalog

PASSAGES = (Passage("p1", "Ada", "Ada was born in London."),)
QUESTION = "Where was Ada born?"
DRAFT: list[Piece] = [
    *[(f" {word}", -0.01) for word in ("Ada", "was", "born", "in")],
    (" Paris.", -1.0),
]
END: list[Piece] = [(f" {word}", -0.01) for word in ("So", "the", "answer", "is", "Paris.")]
"""The last word of the draft has a probability of 0.37."""
NAME = "tuned-1.4"


@dataclass(frozen=True)
class Tuned:
    """An orchestrator with one tuned policy."""

    answerer: Answerer
    catalog: Catalog
    scorer: ScriptedScorer

    async def ask(self, policy: str = NAME, **overrides: object) -> Answer:
        """Return the answer of a policy with overrides."""
        changes = PolicyOverrides(**overrides)  # type: ignore[arg-type]
        return await self.answer(PolicyRequest(policy, changes))

    async def answer(self, policy: PolicyRequest) -> Answer:
        request = AnswerRequest(QUESTION, policy)
        async with aclosing(self.answerer.stream_answer(request)) as events:
            (answer,) = [each.answer async for each in events if isinstance(each, AnswerFinished)]
        return answer


async def conditions() -> TuningConditions:
    index = await InMemoryRetriever({"lab": PASSAGES}).describe_index("lab")
    return TuningConditions(
        *("scripted", "1", "scripted", "1"),
        *("lab", index.engine, index.version),
        prompt_profile="lab@1",
    )


@asynccontextmanager
async def tuned(
    transport: str, artefact: PolicyArtefact, *, default: str = "scaar"
) -> AsyncIterator[Tuned]:
    scorer = ScriptedScorer({})
    ports = Ports(
        ScriptedGenerator(lambda request: END if request.prefix else DRAFT),
        scorer,
        LocalQueryBuilder(),
        InMemoryRetriever({"lab": PASSAGES}),
    )
    policies = TunedPolicies([artefact], default=default)
    loop = AdaptiveLoop(ports, policies=policies, default_index="lab")
    catalog = PortsCatalog(ports, version="1.2.3", policies=policies, default_index="lab")
    if transport == "embedded":
        yield Tuned(loop, catalog, scorer)
        return
    async with serving(OrchestratorServicer(loop, catalog)) as (channel, target):
        yield Tuned(RemoteAnswerer(channel, target), RemoteCatalog(channel, target), scorer)


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


async def test_a_tuned_policy_answers_by_name_with_its_digest(transport: str) -> None:
    artefact = artefact_of(NAME, tuned_on=await conditions())
    async with tuned(transport, artefact) as orchestrator:
        made = (await orchestrator.ask()).provenance
        plain = (await orchestrator.ask("flare")).provenance
    assert (made.artefact, made.artefact_digest) == (NAME, artefact.digest)
    assert made.artefact_mismatch == ()
    assert (made.policy.name, made.policy.trigger) == (NAME, "flare")
    assert (made.policy.theta, made.policy.top_k) == (0.42, 2)
    sources = dict(made.policy.sources)
    assert sources["theta"] is sources["top_k"] is SettingSource.ARTEFACT
    assert sources["query"] is SettingSource.PAPER
    assert (plain.artefact, plain.policy.name, plain.policy.theta) == ("", "flare", 0.8)


async def test_overrides_of_a_request_apply_to_a_tuned_policy(transport: str) -> None:
    artefact = artefact_of(NAME, tuned_on=await conditions())
    async with tuned(transport, artefact) as orchestrator:
        uncertain = await orchestrator.ask()
        certain = await orchestrator.ask(theta=0.3)
        weighted = (await orchestrator.ask(trigger="exp_raw")).provenance.policy
        with pytest.raises(InvalidRequest, match=r"policy\.theta: must be in \(0, 1\]"):
            await orchestrator.ask(theta=3.0)
    assert (uncertain.usage.retrievals, certain.usage.retrievals) == (1, 0)
    assert dict(certain.provenance.policy.sources)["theta"] is SettingSource.REQUEST
    assert certain.provenance.policy.top_k == 2
    # A theta that was tuned for one trigger is not that of another one.
    assert (weighted.trigger, weighted.theta, weighted.top_k) == ("exp_raw", 0.8, 2)


async def test_a_learned_trigger_decides_by_the_parameters_of_its_artefact(
    transport: str,
) -> None:
    settings = PolicyOverrides(trigger="learned", theta=0.5)
    artefact = artefact_of(NAME, settings=settings, learned=LEARNED, tuned_on=await conditions())
    async with tuned(transport, artefact) as orchestrator:
        uncertain = await orchestrator.ask()
        certain = await orchestrator.ask(theta=0.95)
        other = (await orchestrator.ask(trigger="flare")).provenance.policy
    assert (uncertain.usage.retrievals, certain.usage.retrievals) == (1, 0)
    assert uncertain.provenance.policy.trigger == "learned"
    assert (other.trigger, other.theta) == ("flare", 0.8)


async def test_the_default_policy_answers_requests_that_name_none(transport: str) -> None:
    artefact = artefact_of(NAME, tuned_on=await conditions())
    async with tuned(transport, artefact, default=NAME) as orchestrator:
        made = (await orchestrator.answer(AnswerRequest("?").policy)).provenance
        asked = (await orchestrator.ask("", top_k=1)).provenance
        described = await orchestrator.catalog.describe()
    assert (made.artefact, asked.artefact, asked.policy.top_k) == (NAME, NAME, 1)
    assert described.default_policy == NAME
    async with tuned(transport, artefact) as orchestrator:
        assert (await orchestrator.ask("")).provenance.policy.name == "scaar"


async def test_an_unknown_name_is_refused_with_the_tuned_ones(transport: str) -> None:
    async with tuned(transport, artefact_of(NAME)) as orchestrator:
        with pytest.raises(InvalidRequest, match=f"no policy 'guess'; known: .*, {NAME}"):
            await orchestrator.ask("guess")


@pytest.mark.parametrize(
    ("changed", "sides"),
    [
        ({"model": "other-lm"}, "model: tuned on other-lm, used with scripted"),
        ({"model_revision": "0"}, "model: tuned on scripted, revision 0, used with revision 1"),
        (
            {"prompt_profile": "instruct@1"},
            "prompt profile: tuned on instruct@1, used with lab@1",
        ),
        ({"index_engine": "faiss"}, "index engine: tuned on faiss, used with in_memory"),
        ({"encoder": "bge"}, "index encoder: tuned on bge, used with none"),
        ({"analysis": "english-1"}, "index analysis: tuned on english-1, used with none"),
    ],
)
async def test_other_conditions_are_refused_unless_they_are_allowed(
    changed: dict[str, str], sides: str, transport: str
) -> None:
    artefact = artefact_of(NAME, tuned_on=replace(await conditions(), **changed))
    async with tuned(transport, artefact) as orchestrator:
        with pytest.raises(PolicyMismatch, match=sides) as caught:
            await orchestrator.ask()
        allowed = await orchestrator.answer(PolicyRequest(NAME, allow_mismatch=True))
    assert caught.value.metadata["policy"] == NAME
    assert allowed.provenance.artefact_mismatch == (sides,)


async def test_another_scorer_is_refused_if_the_policy_uses_it(transport: str) -> None:
    elsewhere = replace(await conditions(), scorer="other-encoder")
    sides = "scorer: tuned on other-encoder, used with scripted"
    async with tuned(transport, artefact_of(NAME, tuned_on=elsewhere)) as orchestrator:
        assert (await orchestrator.ask()).provenance.artefact_mismatch == ()
        assert orchestrator.scorer.requests == []
    weighted = artefact_of(NAME, policy="scaar", tuned_on=elsewhere)
    async with tuned(transport, weighted) as orchestrator:
        with pytest.raises(PolicyMismatch, match=sides):
            await orchestrator.ask()


async def test_another_version_of_the_index_is_served_and_reported(transport: str) -> None:
    artefact = artefact_of(NAME, tuned_on=replace(await conditions(), index_version="0ld"))
    async with tuned(transport, artefact) as orchestrator:
        (difference,) = (await orchestrator.ask()).provenance.artefact_mismatch
        *_, listed = await orchestrator.catalog.list_policies()
    assert difference.startswith("index version: tuned on lab 0ld, used with lab ")
    assert listed.artefact is not None
    assert listed.artefact.mismatches == (difference,)


def test_other_examples_in_the_prompt_are_only_reported() -> None:
    tuned_on = TuningConditions("scripted", prompt_profile="scaar@2:strategyqa@1")
    reported = "prompt profile: tuned on scaar@2:strategyqa@1, used with scaar@2"
    assert mismatches(tuned_on, prompt_profile="scaar@2") == ((), (reported,))
    assert mismatches(TuningConditions("scripted"), prompt_profile="scaar@2") == ((), ())


async def test_tuned_policies_are_listed_with_their_needs_and_cost(transport: str) -> None:
    artefact = artefact_of(NAME, policy="scaar", tuned_on=await conditions())
    async with tuned(transport, artefact) as orchestrator:
        *published, listed = await orchestrator.catalog.list_policies()
    assert [each.name for each in published] == list(PRESETS)
    assert {each.artefact for each in published} == {None}
    assert (listed.name, listed.uses_scorer, listed.uses_retriever) == (NAME, True, True)
    assert "theta" in listed.settings
    found = listed.artefact
    assert found is not None
    assert (found.digest, found.policy, found.mismatches) == (artefact.digest, "scaar", ())
    assert (found.expected, found.tuned_on) == (artefact.expected, artefact.tuned_on)
    assert (found.development, found.label_kind) == (artefact.development, artefact.label_kind)


async def test_the_list_is_enough_to_plan_the_tuned_policies(transport: str) -> None:
    settings = PolicyOverrides(trigger="learned", theta=0.6, query="pfq", alpha=40.0, top_k=2)
    artefact = artefact_of(NAME, settings=settings, learned=LEARNED, tuned_on=await conditions())
    async with tuned(transport, artefact) as made:
        described = described_policies(await made.catalog.list_policies())
        assert dict(described) == {NAME: replace(artefact, learned=None)}
        requested = described.resolve(PolicyRequest(NAME))
        assert check_policy(requested) == []
        # The orchestrator adds the parameters of the trigger.
        answer, expected = await made.answer(requested), await made.answer(PolicyRequest(NAME))
    assert (answer.text, answer.provenance.artefact) == (expected.text, NAME)
    assert answer.provenance.policy == expected.provenance.policy
