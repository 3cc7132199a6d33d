"""The pages of one answer: its decisions, what would have happened, feedback, and the Ask page."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from scaar.console.answer_view import Blocks
from scaar.console.rendering import templates
from scaar.console.settings import ConsoleSettings
from scaar.core.errors import BackendUnavailable, NotFound
from scaar.core.records import (
    AnswerRecord,
    ExplainRecordRequest,
    RecordContent,
    RecordExplanation,
    RecordSummary,
    Verdict,
)
from scaar.core.types import (
    AcceptedSentence,
    AnswerDrafted,
    AnswerEvent,
    AnswerRequest,
    CandidatesScored,
    Degradation,
    FilteredPassage,
    FilteredSentence,
    GateJudged,
    PassagesFiltered,
    QuestionRewritten,
    RetrievalDecision,
    RetrievalWeighed,
    RewriteOutcome,
    ScoredCandidate,
    SearchDecision,
    SearchRequested,
    SentenceAccepted,
)
from scaar.records.explanation import explain
from scaar.records.redaction import redacted
from scaar.testing.console_back_ends import (
    HOSTILE,
    LONG_WORD,
    ListedRecords,
    catalog,
    events_of,
    open_pages,
    record_of,
)
from scaar.testing.fakes import ScriptedAnswerer
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


async def recorded(policy: str = "scaar", **changes: object) -> AnswerRecord:
    request = asking(policy)
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
    assert "The first uncertain word is" in page


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
    record = redacted(await recorded(), content, b"key")
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

    async def test_evidence_that_was_not_recorded_is_named(self) -> None:
        with pages(await recorded("flare")) as client:
            response = client.get(f"/answers/{ID}/what-if", params={"policy": "scaar"})
        assert response.status_code == 200
        assert "contribution" in response.text

    async def test_a_policy_that_judges_nothing_says_so(self) -> None:
        with pages(await recorded("single_round")) as client:
            assert "has no trigger" in client.get(f"/answers/{ID}").text


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


EVENTS: tuple[tuple[AnswerEvent, str], ...] = (
    (QuestionRewritten(HOSTILE, HOSTILE, RewriteOutcome.REWRITTEN, 2), "2 oldest messages"),
    (GateJudged("frequency", "no_retrieval", 0.2, 0.5, {"f": 1.0}), "is below the threshold"),
    (
        PassagesFiltered(
            0, (FilteredPassage("p", (FilteredSentence(HOSTILE, 0.1, False),)),), 0.5, True
        ),
        "all are kept",
    ),
    (AnswerDrafted(1, HOSTILE), "Answer of round 1"),
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

    def test_a_failure_ends_the_events_with_its_text(self) -> None:
        def script(request: AnswerRequest) -> Iterator[AnswerEvent | Exception]:
            yield BackendUnavailable("retriever does not respond")

        with open_pages(catalog=catalog(), answerer=ScriptedAnswerer(script)) as client:
            live = client.post("/ask", data=WHO)
            page = client.post("/", data=WHO)
        assert 'event: failed\ndata: {"message":"retriever does not respond"}' in live.text
        assert page.status_code == 503
        assert "retriever does not respond" in page.text

    @pytest.mark.parametrize("path", ["/", "/ask"])
    def test_a_field_that_is_no_number_is_named(self, path: str) -> None:
        with open_pages(catalog=catalog()) as client:
            response = client.post(path, data={"question": "Who?", "theta": "<b>", "top_k": "x"})
        assert response.status_code == 400
        assert "theta" in response.text
        assert "top_k" in response.text
        assert "<b>&#39;" not in response.text
        assert "&#39;&lt;b&gt;&#39;" in response.text

    async def test_a_request_id_leads_to_its_record(self) -> None:
        with pages(await recorded()) as client:
            path = "/answers/of-request/request-1"
            response = client.get(path, follow_redirects=False)
        assert response.headers["location"] == f"/answers/{ID}"


def test_a_word_of_2000_characters_is_kept_in_one_piece() -> None:
    event = SentenceAccepted(0, AcceptedSentence(LONG_WORD), 0, 2_000)
    block = Blocks().block(event)
    fragment = str(templates().get_template("blocks.html").module.block(block))  # type: ignore[attr-defined]
    assert f"<bdi>{LONG_WORD}</bdi>" in fragment
