"""The pages of one answer: its decisions, what would have happened, feedback, and the Ask page."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from scaar.console.blocks import Blocks
from scaar.console.rendering import templates
from scaar.console.settings import ConsoleSettings
from scaar.console.what_if import WhatIf, judge_again
from scaar.core.errors import BackendUnavailable, CapabilityMissing, NotFound
from scaar.core.loop.answer_state import Ports
from scaar.core.loop.catalog import PortsCatalog
from scaar.core.policies.artefacts import TunedPolicies
from scaar.core.records import (
    AnswerRecord,
    ExplainRecordRequest,
    RecordContent,
    RecordExplanation,
    RecordSummary,
    Verdict,
)
from scaar.core.triggers import TRIGGERS
from scaar.core.types import (
    NOT_IN_DOCUMENTS,
    UNSUPPORTED,
    Abstention,
    AcceptedSentence,
    AnswerDrafted,
    AnswerEvent,
    AnswerFinished,
    AnswerForm,
    AnswerRequest,
    AnswerStarted,
    CandidatesScored,
    Degradation,
    FilteredPassage,
    FilteredSentence,
    GateJudged,
    PassagesFiltered,
    PolicyOverrides,
    PromptRead,
    QueryBuilt,
    QuestionRewritten,
    RetrievalDecision,
    RetrievalWeighed,
    RewriteOutcome,
    ScoredCandidate,
    SearchDecision,
    SearchRequested,
    SentenceAccepted,
    SentenceJudged,
    TokenDrafted,
)
from scaar.query_builder.local import LocalQueryBuilder
from scaar.records.explanation import explain
from scaar.testing.answer_records import redacted_record
from scaar.testing.artefacts import LEARNED, artefact_of
from scaar.testing.console_back_ends import (
    HOSTILE,
    LONG_WORD,
    ListedRecords,
    catalog,
    events_of,
    open_pages,
    record_of,
)
from scaar.testing.fakes import (
    InMemoryRetriever,
    ScriptedAnswerer,
    ScriptedGenerator,
    ScriptedScorer,
)
from scaar.testing.gateways import cited_answer
from tests.unit.core.scripted import asking, model, parts

ID = f"{1:026x}"
WHO = {"question": "Who?", "policy": "scaar"}


class StoredRecords(ListedRecords):
    """One record, which is judged again as the service of records does."""

    def __init__(self, record: AnswerRecord) -> None:
        super().__init__([record.summary])
        self.record = record
        self.feedback: list[tuple[str, Verdict, str]] = []

    async def get_record(self, record_id: str) -> AnswerRecord:
        if record_id != self.record.summary.id:
            raise NotFound(f"there is no record {record_id!r}")
        return self.record

    async def explain_record(self, request: ExplainRecordRequest) -> RecordExplanation:
        return explain(self.record, request)

    async def submit_feedback(
        self, record_id: str, verdict: Verdict, comment: str = ""
    ) -> RecordSummary:
        self.feedback.append((record_id, verdict, comment))
        return self.record.summary


async def costs(record: AnswerRecord, theta: float) -> dict[str, str]:
    form = {"theta": str(theta)}
    return {each.name: each.value for each in (await what_if(record, form)).costs}


async def what_if(record: AnswerRecord, form: dict[str, str]) -> WhatIf:
    return await judge_again(StoredRecords(record), record, form)


async def recorded(
    policy: str = "scaar", *, theta: float | None = None, **changes: object
) -> AnswerRecord:
    request = asking(policy, theta=theta)
    events = await parts(model(doubts=["Paris.", "Ada"])).events(request)
    summary = record_of(1, id=ID, policy=policy, feedback=None, **changes)
    return AnswerRecord(summary, request, tuple(events), tuple(map(float, range(len(events)))))


@contextmanager
def pages(record: AnswerRecord, **settings: object) -> Iterator[TestClient]:
    configured = ConsoleSettings(**settings)  # type: ignore[arg-type]
    records = StoredRecords(record)
    with open_pages(catalog=catalog(), records=records, settings=configured) as client:
        client.app.state.records = records  # type: ignore[attr-defined]
        yield client


@pytest.mark.parametrize("policy", ["scaar", "flare", "perplexity", "single_round", "no_retrieval"])
async def test_an_answer_shows_its_decisions_and_keeps_to_the_policy(policy: str) -> None:
    with pages(await recorded(policy)) as client:
        response = client.get(f"/answers/{ID}")
    page = response.text
    assert response.status_code == 200
    assert len(response.content) < 200_000
    assert "Sentence 1" in page
    assert "Timeline" in page
    assert " style=" not in page
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


async def test_the_crossing_word_is_marked_by_more_than_a_colour() -> None:
    with pages(await recorded()) as client:
        page = client.get(f"/answers/{ID}").text
    assert '<li class="word uncertain trigger">' in page
    assert "▲" in page
    assert "trigger: uncertain word" in page
    assert "It searched because" in page


async def test_every_word_is_described_by_its_numbers() -> None:
    with pages(await recorded()) as client:
        page = client.get(f"/answers/{ID}").text
    described = re.findall(r'class="tip" tabindex="0" aria-describedby="([^"]+)"', page)
    assert len(described) > 5
    assert len(set(described)) == len(described)
    for each in described:
        assert f'role="tooltip" id="{each}"' in page
    assert 'aria-label="Words of the draft of sentence 1"' in page
    assert '<span class="unseen"> (trigger)</span>' in page


async def test_an_answer_can_be_copied_as_json_command_and_call() -> None:
    record = await recorded()
    record = replace(record, request=replace(record.request, question="it's; rm -rf $HOME"))
    with pages(record) as client:
        page = client.get(f"/answers/{ID}").text
        found = client.get(f"/answers/{ID}.json")
    assert "scaar ask &#39;it&#39;&#34;&#39;&#34;&#39;s; rm -rf $HOME&#39;" in page
    assert "grpcurl" in page
    assert found.headers["content-disposition"] == f'attachment; filename="{ID}.json"'
    assert json.loads(found.text)


@pytest.mark.parametrize("content", [RecordContent.NONE, RecordContent.HASHED])
async def test_a_record_without_texts_shows_its_numbers(content: RecordContent) -> None:
    record = redacted_record(await recorded(), content, b"key")
    summary = replace(record.summary, content=content, question="", answer="")
    with pages(replace(record, summary=summary)) as client:
        page = client.get(f"/answers/{ID}").text
    assert "This record was kept" in page
    assert "grpcurl" not in page
    assert "Sentence 1" in page


async def test_a_record_that_the_caller_may_not_see_is_not_found() -> None:
    with pages(await recorded()) as client:
        response = client.get("/answers/unknown")
    assert response.status_code == 404
    assert "there is no record" in response.text


async def test_the_trace_links_to_the_configured_address() -> None:
    record = await recorded(trace_id="4bf9")
    with pages(record, trace_url="https://traces.example.com/{trace_id}") as client:
        assert 'href="https://traces.example.com/4bf9"' in client.get(f"/answers/{ID}").text
    with pages(record) as client:
        assert "<code>4bf9</code>" in client.get(f"/answers/{ID}").text


class TestWhatIf:
    @pytest.mark.parametrize("path", [f"/answers/{ID}", f"/answers/{ID}/what-if"])
    async def test_a_smaller_threshold_retrieves_less(self, path: str) -> None:
        record = await recorded("flare")
        with pages(record) as client:
            page = client.get(path, params={"theta": "0.001"}).text
        assert "<b>0 retrievals</b>" in page
        assert "differs" in page

    async def test_the_form_works_without_scripts(self) -> None:
        with pages(await recorded()) as client:
            page = client.get(f"/answers/{ID}").text
        assert f'method="get" action="/answers/{ID}#what-if"' in page
        assert 'name="theta"' in page
        assert 'name="trigger"' in page

    @pytest.mark.parametrize(
        ("sent", "text"),
        [
            ({"theta": "much"}, "The threshold must be a number, not much."),
            ({"trigger": "<b>"}, "There is no trigger &lt;b&gt;."),
            ({"trigger": "dragin"}, "notice"),
        ],
    )
    async def test_an_error_is_text_of_the_page(self, sent: dict[str, str], text: str) -> None:
        with pages(await recorded()) as client:
            response = client.get(f"/answers/{ID}/what-if", params=sent)
        assert response.status_code == 200
        assert text in response.text

    async def test_another_policy_judges_with_its_own_settings(self) -> None:
        with pages(await recorded("scaar")) as client:
            page = client.get(f"/answers/{ID}", params={"policy": "flare", "theta": "0.3"}).text
            refused = client.get(f"/answers/{ID}/what-if", params={"policy": "<b>none"})
        assert '<option value="flare" selected>' in page
        assert "of policy <bdi>flare</bdi>" in page
        assert refused.status_code == 200
        assert "notice" in refused.text
        assert "<b>none" not in refused.text

    @pytest.mark.parametrize(("typed", "shown"), [("0.2625", "0.263"), ("1e-9", "1e-09")])
    async def test_a_typed_threshold_is_judged_exactly(self, typed: str, shown: str) -> None:
        with pages(await recorded("flare")) as client:
            page = client.get(f"/answers/{ID}", params={"theta": typed}).text
        assert f'name="theta" step="any" inputmode="decimal" value="{float(typed)}"' in page
        assert f"at θ = {shown}." in page

    @pytest.mark.parametrize("typed", ["1.5", "-1", "0"])
    async def test_a_threshold_out_of_range_is_refused_by_name(self, typed: str) -> None:
        with pages(await recorded("flare")) as client:
            page = client.get(f"/answers/{ID}/what-if", params={"theta": typed}).text
        assert "overrides.theta: must be" in page

    @pytest.mark.parametrize("typed", ["nan", "inf", "much"])
    async def test_a_threshold_that_is_no_number_is_refused(self, typed: str) -> None:
        with pages(await recorded("flare")) as client:
            page = client.get(f"/answers/{ID}/what-if", params={"theta": typed}).text
        assert f"The threshold must be a number, not {typed}." in page

    async def test_another_trigger_starts_at_its_own_threshold_and_range(self) -> None:
        sent = {"theta": "0.26", "trigger": "perplexity", "was": " "}
        with pages(await recorded("flare")) as client:
            fragment = client.get(f"/answers/{ID}/what-if", params=sent).text
            again = client.get(
                f"/answers/{ID}/what-if", params={**sent, "theta": "2.5", "was": " perplexity"}
            ).text
            whole = client.get(f"/answers/{ID}", params=sent).text
        theta = TRIGGERS["perplexity"].theta
        assert f"at θ = {theta.default:.3g}." in fragment
        assert 'id="what-if-threshold" class="field wide" hx-swap-oob="true"' in fragment
        assert f'min="{theta.minimum}"' in fragment
        assert 'name="was" value=" perplexity"' in fragment
        assert "at θ = 2.5." in again
        assert "hx-swap-oob" not in again
        assert "hx-swap-oob" not in whole
        assert whole.count('id="what-if-threshold"') == 1

    async def test_a_tuned_policy_judges_with_its_settings(self) -> None:
        record = await recorded("flare")
        with pages(record) as client:
            page = client.get(f"/answers/{ID}", params={"policy": "flare-1.4"}).text
            fragment = client.get(f"/answers/{ID}/what-if", params={"policy": "flare-1.4"}).text
        overrides = PolicyOverrides(theta=0.42)
        found = explain(record, ExplainRecordRequest(ID, "flare", overrides))
        for text in (page, fragment):
            assert f"<b>{found.retrievals} retrieval" in text
            assert "of policy <bdi>flare-1.4</bdi> at θ = 0.42." in text
        assert '<option value="flare-1.4" selected>' in page

    async def test_a_record_of_the_same_artefact_is_judged_with_its_own_parameters(self) -> None:
        learned = artefact_of(
            "learned-1", settings=PolicyOverrides(trigger="learned"), learned=LEARNED
        )
        described = PortsCatalog(
            Ports(
                ScriptedGenerator({}),
                ScriptedScorer({}),
                LocalQueryBuilder(),
                InMemoryRetriever({}),
            ),
            version="1",
            policies=TunedPolicies([learned]),
            default_index="lab",
        )
        tuned = [each for each in await described.list_policies() if each.artefact]
        form = {"policy": "learned-1"}
        record = await recorded("flare")
        refused = await judge_again(StoredRecords(record), record, form, tuned)
        assert "needs the parameters of a tuned policy" in refused.problem
        summary = replace(record.summary, artefact_digest=learned.digest)
        events = tuple(_as_learned(each) for each in record.events)
        same = replace(record, summary=summary, events=events)
        judged = await judge_again(StoredRecords(same), same, form, tuned)
        assert judged.found is not None, judged.problem
        assert judged.found.policy.trigger == "learned"
        assert judged.theta == tuned[0].policy.theta

    async def test_an_orchestrator_that_does_not_respond_costs_the_tuned_policies_only(
        self,
    ) -> None:
        records = StoredRecords(await recorded("flare"))
        with open_pages(records=records) as client:
            page = client.get(f"/answers/{ID}", params={"theta": "0.5"})
            other = client.get(f"/answers/{ID}", params={"policy": "flare-1.4"}).text
        assert page.status_code == 200
        assert "at θ = 0.5." in page.text
        assert "There is no policy flare-1.4 that judges drafts." in other

    async def test_the_searches_up_to_the_first_difference_are_a_lower_bound(self) -> None:
        record = await recorded("flare")
        (judged,) = (each for each in record.events if isinstance(each, SentenceJudged))
        assert judged.retrieving
        certain = tuple(replace(each, probability=0.9, uncertain=False) for each in judged.words)
        kept = replace(judged, sentence=1, words=certain, trigger=None, retrieving=False)
        record = replace(record, events=(*record.events, kept), event_ms=())
        fused = tuple(
            replace(each, query=replace(each.query, fused_with="Who?"))
            if isinstance(each, QueryBuilt)
            else each
            for each in record.events
        )
        for events, theta, searches in (
            (record.events, "0.2", "No decision differs: the drafts make 1 search."),
            (fused, "0.2", "No decision differs: the drafts make 2 searches."),
            (record.events, "0.999", "of sentence 2: a new answer would make at least 2 searches,"),
            (fused, "0.999", "of sentence 2: a new answer would make at least 3 searches,"),
            (fused, "0.001", "of sentence 1: a new answer would make no search up to it."),
        ):
            with pages(replace(record, events=events)) as client:
                page = client.get(f"/answers/{ID}/what-if", params={"theta": theta}).text
            assert searches in page, theta

    async def test_the_cost_is_what_the_record_shows_of_it(self) -> None:
        record = await recorded("flare")
        drafted = sum(isinstance(each, TokenDrafted) for each in record.events)
        positions = [
            at for at, each in enumerate(record.events) if isinstance(each, SentenceJudged)
        ]
        (judged_at,) = positions
        accepted_at = next(
            at
            for at, each in enumerate(record.events)
            if at > judged_at and isinstance(each, SentenceAccepted)
        )
        answer = record.events[-1]
        assert isinstance(answer, AnswerFinished)
        same = await costs(record, theta=0.2)
        assert same == {
            "tokens read": f"{answer.answer.usage.prompt_tokens:,}",
            "tokens written": f"{answer.answer.usage.generated_tokens:,}",
            "time": f"{answer.answer.usage.latency_ms:,.0f} ms",
        }
        # The events of the record are one millisecond apart.
        before = sum(isinstance(each, TokenDrafted) for each in record.events[:judged_at])
        assert 0 < before <= drafted
        assert await costs(record, theta=0.001) == {
            "tokens written": f"at least {before}",
            "time up to it": f"{judged_at} ms",
            "this retrieval": f"saves about {accepted_at - judged_at} ms",
        }
        without = replace(record, left_out=("tokens",))
        assert "tokens written" not in await costs(without, theta=0.001)
        assert await costs(replace(record, event_ms=()), theta=0.001) == {}

    async def test_the_time_of_a_retrieval_is_estimated_by_those_of_the_answer(self) -> None:
        kept = await recorded("flare", theta=0.001)
        unknown = await costs(kept, theta=0.999)
        assert unknown["a retrieval"] == "unknown"
        record = await recorded("flare")
        (position,) = (
            at for at, each in enumerate(record.events) if isinstance(each, SentenceJudged)
        )
        judged = record.events[position]
        assert isinstance(judged, SentenceJudged)
        certain = tuple(replace(each, probability=0.9, uncertain=False) for each in judged.words)
        other = replace(judged, sentence=9, words=certain, trigger=None, retrieving=False)
        times = (*record.event_ms, 500.0)
        longer = replace(record, events=(*record.events, other), event_ms=times)
        found = await costs(longer, theta=0.999)
        saved = (await costs(record, theta=0.001))["this retrieval"]
        assert found["a retrieval"] == saved.replace("saves", "adds")
        assert found["time up to it"] == "500 ms"

    async def test_evidence_that_was_not_recorded_is_named(self) -> None:
        with pages(await recorded("flare")) as client:
            response = client.get(f"/answers/{ID}/what-if", params={"policy": "scaar"})
        assert response.status_code == 200
        assert "contribution" in response.text

    async def test_a_policy_that_judges_nothing_has_no_form(self) -> None:
        with pages(await recorded("single_round")) as client:
            page = client.get(f"/answers/{ID}").text
            outcome = client.get(f"/answers/{ID}/what-if").text
        assert "What if" not in page
        assert "has no trigger" in outcome

    async def test_the_form_is_folded_unless_the_address_asks_for_it(self) -> None:
        with pages(await recorded("flare")) as client:
            folded = client.get(f"/answers/{ID}").text
            opened = client.get(f"/answers/{ID}", params={"theta": "0.2"}).text
        assert '<details id="what-if">' in folded
        assert '<details id="what-if" open>' in opened


class TestFeedback:
    async def test_the_form_is_left_out_and_refused_if_read_only(self) -> None:
        with pages(await recorded()) as client:
            assert "Send feedback" not in client.get(f"/answers/{ID}").text
            response = client.post(f"/answers/{ID}/feedback", data={"verdict": "wrong"})
        assert response.status_code == 403

    async def test_a_verdict_is_stored_and_leads_back_to_the_answer(self) -> None:
        sent = {"verdict": "wrong", "comment": " not\nAda "}
        with pages(await recorded(), read_only=False) as client:
            path = f"/answers/{ID}/feedback"
            response = client.post(path, data=sent, follow_redirects=False)
            stored = client.app.state.records.feedback  # type: ignore[attr-defined]
        assert response.status_code == 303
        assert response.headers["location"] == f"/answers/{ID}#feedback"
        assert stored == [(ID, Verdict.WRONG, "not Ada")]

    async def test_an_unknown_verdict_is_refused(self) -> None:
        with pages(await recorded(), read_only=False) as client:
            response = client.post(f"/answers/{ID}/feedback", data={"verdict": "maybe"})
        assert response.status_code == 400


def _as_learned(event: AnswerEvent) -> AnswerEvent:
    """Return the event of an answer that a learned trigger judged."""
    if not isinstance(event, AnswerStarted):
        return event
    policy = replace(event.provenance.policy, trigger="learned")
    return replace(event, provenance=replace(event.provenance, policy=policy))


EVENTS: tuple[tuple[AnswerEvent, str], ...] = (
    (QuestionRewritten(HOSTILE, HOSTILE, RewriteOutcome.REWRITTEN, 2), "2 oldest messages"),
    (GateJudged("frequency", "no_retrieval", 0.2, 0.5, {"f": 1.0}), "is below the threshold"),
    (GateJudged("p_correct", "flare", 0.6, 0.5, {}, top_k=1), "<code>top_k</code> 1"),
    (
        PassagesFiltered(
            0, (FilteredPassage("p", (FilteredSentence(HOSTILE, 0.1, False),)),), 0.5, True
        ),
        "all are kept",
    ),
    (AnswerDrafted(1, HOSTILE), "The answer of this round"),
    (SearchRequested(1, HOSTILE, HOSTILE, SearchDecision.SKIPPED, 0.9), "skipped"),
    (RetrievalWeighed(0, 0.3, 0.2, RetrievalDecision.RETRIEVE), "above the threshold"),
    (
        CandidatesScored(0, (ScoredCandidate("p", HOSTILE, 1.0, 0.5, 0.0, 0.2, 1.7),), 0),
        "1.700",
    ),
    (
        SentenceAccepted(
            0,
            AcceptedSentence(HOSTILE, degraded=Degradation("retrieve", "OVERLOADED", HOSTILE)),
            0,
            9,
        ),
        "Degraded",
    ),
    *((each, "Babbage") for each in events_of("scaar") if type(each).__name__ == "SentenceJudged"),
)


@pytest.mark.parametrize(("event", "text"), EVENTS, ids=lambda each: type(each).__name__)
def test_every_event_has_a_form_in_which_texts_do_not_run(event: AnswerEvent, text: str) -> None:
    block = Blocks().block(event)
    assert block is not None
    fragment = str(templates().get_template("blocks.html").module.block(block))  # type: ignore[attr-defined]
    assert text in fragment
    assert "<script" not in fragment
    assert "<img" not in fragment


class TestAsk:
    def test_an_answer_is_rendered_without_scripts(self) -> None:
        answerer = ScriptedAnswerer(lambda request: events_of("scaar"))
        with open_pages(catalog=catalog(), answerer=answerer) as client:
            page = client.post(
                "/", data={"question": HOSTILE, "policy": "scaar", "theta": "0.4"}
            ).text
        (asked,) = answerer.requests
        assert asked.question == HOSTILE
        assert asked.policy.overrides.theta == 0.4
        assert asked.answer is AnswerForm.TEXT
        assert f'href="/answers/of-request/{asked.request_id}"' in page
        assert "<script>alert" not in page
        assert "<img" not in page

    def test_events_come_as_they_are_made(self) -> None:
        answerer = ScriptedAnswerer(lambda request: events_of("scaar"))
        with open_pages(catalog=catalog(), answerer=answerer) as client:
            response = client.post("/ask", data=WHO)
        assert response.headers["content-type"].startswith("text/event-stream")
        names = re.findall(r"^event: (\w+)$", response.text, re.MULTILINE)
        assert names == ["block"] * 5 + ["done"]
        assert "<script" not in response.text
        assert answerer.closed == 1

    def test_what_is_still_to_be_read_is_an_event(self) -> None:
        def script(request: AnswerRequest) -> Iterator[AnswerEvent | Exception]:
            yield PromptRead(0, 2_000, 500)
            yield PromptRead(0, 2_000, 1_999)

        with open_pages(catalog=catalog(), answerer=ScriptedAnswerer(script)) as client:
            live = client.post("/ask", data=WHO)
            page = client.post("/", data=WHO)
        assert (
            'event: reading\ndata: {"heading":"Sentence 1","text":"reading 1,500 tokens"}'
            in live.text
        )
        assert '"text":"reading 1 token"}' in live.text
        assert (page.status_code, "reading 1,500" in page.text) == (200, False)

    def test_a_failure_ends_the_events_with_its_text(self) -> None:
        def script(request: AnswerRequest) -> Iterator[AnswerEvent | Exception]:
            yield BackendUnavailable("retriever does not respond")

        with open_pages(catalog=catalog(), answerer=ScriptedAnswerer(script)) as client:
            live = client.post("/ask", data=WHO)
            page = client.post("/", data=WHO)
        assert 'event: failed\ndata: {"message":"retriever does not respond"}' in live.text
        assert page.status_code == 503
        assert "retriever does not respond" in page.text

    def test_a_policy_that_the_model_cannot_serve_is_rejected(self) -> None:
        def script(request: AnswerRequest) -> Iterator[AnswerEvent | Exception]:
            yield CapabilityMissing("lab-lm gives no attention")

        with open_pages(catalog=catalog(), answerer=ScriptedAnswerer(script)) as client:
            page = client.post("/", data=WHO)
        assert page.status_code == 400
        assert "lab-lm gives no attention" in page.text

    @pytest.mark.parametrize("path", ["/", "/ask"])
    def test_a_field_that_is_no_number_is_named(self, path: str) -> None:
        with open_pages(catalog=catalog()) as client:
            response = client.post(path, data={"question": "Who?", "theta": "<b>", "top_k": "x"})
        assert response.status_code == 400
        assert "theta" in response.text
        assert "top_k" in response.text
        assert "<b>&#39;" not in response.text
        assert "&#39;&lt;b&gt;&#39;" in response.text

    @pytest.mark.parametrize("path", ["/", "/ask"])
    @pytest.mark.parametrize(
        ("field", "typed", "expected"),
        [
            ("theta", "nan", "a finite number"),
            ("theta", "-inf", "a finite number"),
            ("theta", "1e999", "a finite number"),
            ("top_k", "9" * 400, "a whole number from 1 to 100"),
            ("top_k", "9" * 5_000, "a whole number from 1 to 100"),
            ("top_k", "3000000000", "a whole number from 1 to 100"),
            ("top_k", "0", "a whole number from 1 to 100"),
            ("top_k", "2.5", "a whole number from 1 to 100"),
        ],
    )
    def test_a_number_that_no_policy_takes_is_rejected_before_the_call(
        self, path: str, field: str, typed: str, expected: str
    ) -> None:
        answerer = ScriptedAnswerer(lambda request: events_of("scaar"))
        with open_pages(catalog=catalog(), answerer=answerer) as client:
            response = client.post(path, data={**WHO, field: typed})
        assert response.status_code == 400
        assert f"{field}: must be {expected}, not &#39;{typed[:40]}&#39;" in response.text
        assert not answerer.requests

    async def test_a_request_id_leads_to_its_record(self) -> None:
        with pages(await recorded()) as client:
            path = "/answers/of-request/request-1"
            response = client.get(path, follow_redirects=False)
        assert response.headers["location"] == f"/answers/{ID}"


def test_an_image_in_an_answer_is_text() -> None:
    markdown = "So it is ![](https://elsewhere.example.com/seen.png)."
    block = Blocks().block(SentenceAccepted(0, AcceptedSentence(markdown), 0, len(markdown)))
    fragment = str(templates().get_template("blocks.html").module.block(block))  # type: ignore[attr-defined]
    assert markdown in fragment
    assert "<img" not in fragment
    assert "src=" not in fragment


def test_a_word_of_2000_characters_is_kept_in_one_piece() -> None:
    event = SentenceAccepted(0, AcceptedSentence(LONG_WORD), 0, 2_000)
    block = Blocks().block(event)
    fragment = str(templates().get_template("blocks.html").module.block(block))  # type: ignore[attr-defined]
    assert f"<bdi>{LONG_WORD}</bdi>" in fragment


@pytest.mark.parametrize(
    ("abstained", "notice"),
    [
        (Abstention(0.12, 0.3), "the probability that the answer is correct, 0.12, is below 0.30"),
        (NOT_IN_DOCUMENTS, "the model found no answer in the passages"),
        (UNSUPPORTED, "the passages do not have what the answer says"),
    ],
)
def test_an_answer_without_an_answer_to_give_says_why(abstained: Abstention, notice: str) -> None:
    def script(request: AnswerRequest) -> Iterator[AnswerEvent]:
        for event in cited_answer(request):
            if isinstance(event, AnswerFinished):
                event = AnswerFinished(replace(event.answer, abstained=abstained))
            yield event

    with open_pages(catalog=catalog(), answerer=ScriptedAnswerer(script)) as client:
        page = client.post("/", data=WHO)
        live = client.post("/ask", data=WHO)
    assert notice in page.text
    assert notice in live.text
