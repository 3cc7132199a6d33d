"""The pages of the lists: what they show, what they escape, and what they do without a service."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from scaar.console.record_rows import record_table
from scaar.console.settings import ConsoleSettings
from scaar.core.errors import (
    BackendUnavailable,
    DataCorrupt,
    InvalidRequest,
    PermissionDenied,
    ScaarError,
)
from scaar.core.evaluations import EvaluationState
from scaar.core.records import RecordContent, RecordFilter, Verdict
from scaar.core.types import IndexDescription, RequestKind, SearchRequest, SearchResult
from scaar.testing.console_back_ends import (
    EVALUATION,
    HOSTILE,
    LONG_WORD,
    NOW,
    FailingRecords,
    FixedEvaluator,
    ForgottenCatalog,
    ListedRecords,
    catalog,
    groups_until,
    open_pages,
    record_of,
)

MAX_BYTES = 200_000
RECORDS = [record_of(each) for each in range(120)]
PAGES = (
    "/answers",
    "/policies",
    "/policies/scaar",
    "/policies/flare-1.4",
    "/indexes?q=engine&index=lab",
    "/evaluations",
    "/evaluations/0190-aaaa",
    "/evaluations/0190-bbbb",
    "/evaluations/0190-aaaa/predictions",
    "/evaluations/0190-aaaa/predictions?setting=no_retrieval",
    "/evaluations/0190-aaaa/prediction?setting=no_retrieval&question=q1",
    "/evaluations/0190-aaaa/prediction?setting=flare:theta%3D0.8&question=q1",
    "/evaluations/0190-aaaa/compare?a=no_retrieval&b=flare%3Atheta%3D0.3",
    "/drift",
    "/drift?period=week",
    "/system",
)


@pytest.fixture
def client() -> Iterator[TestClient]:
    records = ListedRecords(RECORDS, groups_until(NOW))
    with open_pages(catalog=catalog(), evaluator=FixedEvaluator(), records=records) as opened:
        yield opened


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_small_and_keeps_to_the_rules_of_tables(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 200
    assert len(response.content) < MAX_BYTES
    page = response.text
    assert "<h1>" in page
    assert page.count("<table") == page.count("<caption")
    assert "<th>" not in page
    # The content security policy allows neither of them.
    assert " style=" not in page
    assert not re.search(r"<[^>]*\son\w+=", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)


@pytest.mark.parametrize("path", PAGES)
def test_every_label_belongs_to_a_field_and_ids_are_unique(client: TestClient, path: str) -> None:
    page = client.get(path).text
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'<label for="([^"]+)"', page)) <= set(ids)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_without_any_service_names_what_is_missing(path: str) -> None:
    with open_pages() as client:
        response = client.get(path)
    assert response.status_code == (200 if path == "/system" else 503)
    assert "is not configured" in response.text or "cannot be read" in response.text


class TestAnswers:
    def test_the_filters_of_the_form_reach_the_records(self) -> None:
        records = ListedRecords(RECORDS)
        with open_pages(records=records) as client:
            sent = {"policy": "scaar", "retrieved": "yes", "verdict": "wrong", "text": "Ada"}
            page = client.get("/answers", params=sent).text
        wanted = RecordFilter(
            policy="scaar",
            retrieved=True,
            verdict=Verdict.WRONG,
            text="Ada",
            kind=RequestKind.QUESTION,
        )
        assert records.filters == [wanted]
        assert 'value="Ada"' in page
        assert '<option value="wrong" selected>' in page

    def test_pages_follow_one_another_with_the_same_filters(self) -> None:
        with open_pages(records=ListedRecords(RECORDS)) as client:
            page = client.get("/answers", params={"degraded": "no", "page_size": "50"}).text
            (following,) = re.findall(r'rel="next" href="([^"]+)"', page)
            second = client.get(following.replace("&amp;", "&")).text
            last = re.findall(r'rel="next" href="([^"]+)"', second)
        assert "degraded=no" in following
        assert "page_token=50" in following
        assert "First page" in second
        assert len(last) == 1

    def test_an_answer_links_to_its_decisions(self) -> None:
        with open_pages(records=ListedRecords(RECORDS[:1])) as client:
            page = client.get("/answers").text
        assert f'href="/answers/{RECORDS[0].id}"' in page

    def test_hostile_texts_are_shown_and_isolated(self) -> None:
        record = record_of(0, question=HOSTILE, answer=LONG_WORD, tenant=HOSTILE, index=HOSTILE)
        with open_pages(records=ListedRecords([record])) as client:
            page = client.get("/answers", params={"text": '"><script>alert(1)</script>'}).text
            shown = client.get("/answers").text
        assert "<script>alert" not in page + shown
        assert "<img" not in shown
        assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;" in shown
        assert LONG_WORD not in shown

    @pytest.mark.parametrize(
        ("content", "question", "note"),
        [
            (RecordContent.NONE, "", "recorded without texts"),
            (RecordContent.HASHED, "0123456789abcdef", "digest of the question"),
            (RecordContent.FULL, " ", "the question is blank"),
        ],
    )
    def test_a_record_without_a_text_has_a_link_of_its_own(
        self, content: RecordContent, question: str, note: str
    ) -> None:
        record = record_of(1, content=content, question=question, answer="")
        cell = record_table([record]).rows[0][0]
        assert cell.note == note
        assert cell.text
        assert cell.href == f"/answers/{record.id}"

    def test_without_an_answer_the_page_says_what_to_do(self) -> None:
        with open_pages(records=ListedRecords()) as client:
            assert "Ask a question" in client.get("/answers").text
            assert "Remove a filter" in client.get("/answers?policy=none").text

    def test_an_invalid_field_is_named_and_the_others_are_used(self) -> None:
        records = ListedRecords(RECORDS)
        with open_pages(records=records) as client:
            response = client.get("/answers?since=yesterday&policy=scaar")
        assert response.status_code == 400
        assert "From (UTC) must be a time" in response.text
        assert records.filters == [RecordFilter(policy="scaar", kind=RequestKind.QUESTION)]

    def test_the_policies_are_suggested_without_being_needed(self) -> None:
        with open_pages(records=ListedRecords(RECORDS), catalog=ForgottenCatalog()) as client:
            response = client.get("/answers")
        assert response.status_code == 200
        with open_pages(records=ListedRecords(RECORDS), catalog=catalog()) as client:
            assert '<option value="flare-1.4">' in client.get("/answers").text

    @pytest.mark.parametrize(
        ("error", "status"),
        [
            (None, 503),
            (PermissionDenied("the tenant 'acme' is not yours"), 403),
            (InvalidRequest.of("page_token", "belongs to another query"), 400),
        ],
    )
    def test_a_failure_of_the_records_is_stated(
        self, error: PermissionDenied | InvalidRequest | None, status: int
    ) -> None:
        with open_pages(records=FailingRecords(error)) as client:
            response = client.get("/answers")
        assert response.status_code == status
        assert "records service" in response.text
        # The form stays, to try again.
        assert "<form" in response.text


class TestPolicies:
    def test_published_and_tuned_policies_are_listed(self) -> None:
        with open_pages(catalog=catalog()) as client:
            page = client.get("/policies").text
        assert "Tuned policies" in page
        assert 'href="/policies/flare-1.4"' in page
        assert "the model lacks" in page

    def test_a_policy_states_every_setting_with_its_source(self) -> None:
        with open_pages(catalog=catalog()) as client:
            page = client.get("/policies/flare-1.4").text
        assert "the artefact of the tuned policy" in page
        assert "Expected trigger rate" in page
        assert "allow_mismatch" in page
        assert "policy=flare-1.4" in page

    @pytest.mark.parametrize(
        ("policy", "reason"),
        [
            ("dragin", "the model lacks attention, entropy"),
            ("filco", "the orchestrator lacks the sentence filter file"),
        ],
    )
    def test_a_policy_that_cannot_be_served_is_not_asked_with(
        self, policy: str, reason: str
    ) -> None:
        with open_pages(catalog=catalog()) as client:
            page = client.get(f"/policies/{policy}").text
        assert reason in page
        assert "Ask with this policy" not in page

    def test_an_unknown_policy_is_not_found(self) -> None:
        with open_pages(catalog=catalog()) as client:
            response = client.get("/policies/%3Cscript%3E")
        assert response.status_code == 404
        assert "<script>" not in response.text.replace("<script src", "")


class UnsearchableCatalog(ForgottenCatalog):
    """A catalog that lists indexes, and fails to search."""

    def __init__(self, error: ScaarError) -> None:
        self._error = error

    async def list_indexes(self) -> tuple[IndexDescription, ...]:
        return await catalog().list_indexes()

    async def search(self, request: SearchRequest) -> SearchResult:
        raise self._error


class TestIndexes:
    def test_a_search_shows_the_passages(self) -> None:
        with open_pages(catalog=catalog()) as client:
            page = client.get("/indexes?index=lab&q=engine&top_k=3").text
        assert "Ada Lovelace wrote" in page
        assert "<img" not in page

    @pytest.mark.parametrize("top_k", ["0", "101", "three", "²"])
    def test_an_invalid_number_of_passages_is_named(self, top_k: str) -> None:
        with open_pages(catalog=catalog()) as client:
            response = client.get("/indexes", params={"q": "engine", "top_k": top_k})
        assert response.status_code == 400
        assert "must be a whole number from 1 to 100" in response.text

    @pytest.mark.parametrize(
        "error", [DataCorrupt("index lab is damaged"), BackendUnavailable("retriever is down")]
    )
    def test_without_the_search_the_page_has_the_list(self, error: ScaarError) -> None:
        with open_pages(catalog=UnsearchableCatalog(error)) as client:
            response = client.get("/indexes?index=lab&q=engine")
        assert response.status_code == 200
        assert f"The search failed: {error.message}" in response.text
        assert "/indexes?index=lab#search" in response.text

    def test_a_search_that_fails_leaves_the_list(self) -> None:
        with open_pages(catalog=catalog()) as client:
            response = client.get("/indexes?index=nothing&q=engine")
        assert response.status_code == 404
        assert "The search failed" in response.text
        assert "Sample search" in response.text

    def test_a_search_that_the_index_cannot_serve_is_rejected(self) -> None:
        with open_pages(catalog=catalog()) as client:
            response = client.get("/indexes?index=lab&q=engine&mode=vectors")
        assert response.status_code == 400
        assert "The search failed" in response.text


class TestEvaluations:
    def test_every_state_can_be_selected(self) -> None:
        with open_pages(evaluator=FixedEvaluator()) as client:
            running = client.get("/evaluations?state=running").text
            wrong = client.get("/evaluations?state=asleep")
        assert "0190-bbbb" in running
        assert "0190-aaaa" not in running
        assert wrong.status_code == 400

    def test_without_an_evaluation_the_page_says_how_to_create_one(self) -> None:
        with open_pages(evaluator=FixedEvaluator(())) as client:
            assert "scaar eval run" in client.get("/evaluations").text

    def test_a_running_evaluation_has_figures_and_no_report(self) -> None:
        with open_pages(evaluator=FixedEvaluator()) as client:
            page = client.get("/evaluations/0190-bbbb").text
        assert "34 of 90 predictions are stored" in page
        assert "remain" in page
        assert "Report as JSON" not in page

    def test_a_failed_evaluation_states_its_error(self) -> None:
        failed = replace(EVALUATION, state=EvaluationState.FAILED, request_id=HOSTILE)
        with open_pages(evaluator=FixedEvaluator([failed])) as client:
            page = client.get(f"/evaluations/{failed.id}").text
        assert "<script>alert" not in page

    def test_a_report_is_a_document_without_scripts_in_an_origin_of_its_own(self) -> None:
        with open_pages(evaluator=FixedEvaluator()) as client:
            response = client.get("/evaluations/0190-aaaa/report")
        (policy,) = response.headers.get_list("content-security-policy")
        assert "sandbox" in policy.split("; ")
        assert "script-src" not in policy
        assert "default-src 'none'" in policy

    def test_predictions_link_to_their_decisions(self) -> None:
        with open_pages(evaluator=FixedEvaluator()) as client:
            page = client.get("/evaluations/0190-aaaa/predictions?setting=no_retrieval").text
        assert (
            'href="/evaluations/0190-aaaa/prediction?setting=no_retrieval&amp;question=q0"' in page
        )
        assert 'rel="next"' in page

    def test_two_settings_are_compared_question_by_question(self) -> None:
        path = "/evaluations/0190-aaaa/compare"
        sent = {"a": "no_retrieval", "b": "flare:theta=0.8"}
        with open_pages(evaluator=FixedEvaluator()) as client:
            page = client.get(path, params=sent).text
            better = client.get(path, params={**sent, "show": "better"}).text
            unscored = client.get(path, params={**sent, "show": "unscored"}).text
        (number,) = re.findall(r"B is better on (\d+)", page)
        assert better.count("B better") == min(25, int(number))
        assert "DEADLINE_EXCEEDED" in unscored
        assert "1 to 1 of 1" in unscored

    def test_two_evaluations_are_compared_with_settings_of_each(self) -> None:
        other = replace(EVALUATION, id="0190-cccc", settings=("flare:theta=0.8",))
        sent = {"a": "no_retrieval", "b": "no_retrieval", "with": "0190-cccc"}
        with open_pages(evaluator=FixedEvaluator([EVALUATION, other])) as client:
            page = client.get("/evaluations/0190-aaaa/compare", params=sent).text
        assert "The other evaluation has no setting" in page
        assert 'href="/evaluations/0190-cccc/prediction?setting=flare' in page

    @pytest.mark.parametrize("part", ["", "/report", "/predictions", "/compare"])
    def test_an_unknown_evaluation_is_not_found(self, part: str) -> None:
        with open_pages(evaluator=FixedEvaluator()) as client:
            assert client.get(f"/evaluations/nothing{part}").status_code == 404


class TestDrift:
    def test_every_chart_has_a_table_and_a_description(self, client: TestClient) -> None:
        page = client.get("/drift").text
        assert page.count('<svg class="chart" ') == 7
        assert page.count("as a table</summary>") == 7
        assert page.count("<desc") == 7
        assert "expected 25" in page

    def test_the_records_are_summarized_by_the_chosen_period(self) -> None:
        records = ListedRecords(RECORDS, groups_until(NOW))
        with open_pages(records=records, catalog=catalog()) as client:
            client.get("/drift?period=week&tenant=acme")
        assert records.periods == [604_800]
        assert records.filters[0].tenant == "acme"

    def test_without_the_policies_the_charts_lack_the_expectations_only(self) -> None:
        records = ListedRecords(RECORDS, groups_until(NOW))
        with open_pages(records=records, catalog=ForgottenCatalog()) as client:
            response = client.get("/drift")
        assert response.status_code == 200
        assert "orchestrator cannot be read" in response.text
        assert 'class="expected"' not in response.text

    def test_without_answers_the_page_says_what_to_do(self) -> None:
        with open_pages(records=ListedRecords(), catalog=catalog()) as client:
            assert "No answer was recorded in these periods" in client.get("/drift").text

    def test_names_of_policies_are_escaped_in_charts(self) -> None:
        groups = [replace(each, policy=HOSTILE) for each in groups_until(NOW)]
        with open_pages(records=ListedRecords((), groups), catalog=catalog()) as client:
            page = client.get("/drift").text
        assert "<script>alert" not in page
        assert "<img" not in page


class TestSystem:
    def test_every_service_has_its_state(self) -> None:
        with open_pages(catalog=catalog()) as client:
            page = client.get("/system").text
        assert page.count("not configured") == 2
        assert page.count("</span> ready</span>") == 1

    def test_settings_are_shown_without_the_file_of_the_key(self) -> None:
        settings = ConsoleSettings(
            tls_key_file=Path("/keys/console.pem"), trace_url="https://t/{trace_id}"
        )
        with open_pages(catalog=catalog(), settings=settings) as client:
            page = client.get("/system").text
        assert "SCAAR_CONSOLE_TRACE_URL" in page
        assert "https://t/{trace_id}" in page
        assert "console.pem" not in page

    def test_without_the_orchestrator_the_rest_is_shown(self) -> None:
        with open_pages(records=ListedRecords()) as client:
            response = client.get("/system")
        assert response.status_code == 200
        assert "orchestrator cannot be read" in response.text
        assert "Settings of the console" in response.text


def test_a_policy_links_to_its_method_if_the_documentation_is_published() -> None:
    settings = ConsoleSettings(docs_url="https://docs.example.com/scaar/")
    with open_pages(catalog=catalog(), settings=settings) as client:
        page = client.get("/policies/flare-1.4").text
    assert 'href="https://docs.example.com/scaar/policies/#flare"' in page


class TestPrediction:
    def test_it_has_its_facts_and_the_other_settings(self) -> None:
        sent = {"setting": "flare:theta=0.8", "question": "q8"}
        with open_pages(evaluator=FixedEvaluator()) as client:
            page = client.get("/evaluations/0190-aaaa/prediction", params=sent).text
        assert "DEADLINE_EXCEEDED" in page
        assert "Augusta Ada King" in page
        assert (
            'href="/evaluations/0190-aaaa/prediction?setting=no_retrieval&amp;question=q8"' in page
        )

    def test_its_decisions_are_shown_and_escaped(self) -> None:
        sent = {"setting": "flare:theta=0.8", "question": "q1"}
        with open_pages(evaluator=FixedEvaluator()) as client:
            page = client.get("/evaluations/0190-aaaa/prediction", params=sent).text
        assert "P′ 0.2 &lt; threshold 0.3" in page
        assert "It searched because" in page
        assert "<dt>rewrite</dt>" in page
        assert "<script>alert" not in page
        assert "<b>Babbage" not in page

    def test_one_that_is_not_stored_is_not_found(self) -> None:
        sent = {"setting": "no_retrieval", "question": "q99"}
        with open_pages(evaluator=FixedEvaluator()) as client:
            response = client.get("/evaluations/0190-aaaa/prediction", params=sent)
        assert response.status_code == 404
        assert "not stored" in response.text


def test_the_progress_of_a_running_evaluation_is_renewed_and_that_of_an_ended_one_not() -> None:
    with open_pages(evaluator=FixedEvaluator()) as client:
        assert 'hx-trigger="every 5s"' in client.get("/evaluations/0190-bbbb").text
        assert "hx-trigger" not in client.get("/evaluations/0190-aaaa").text
