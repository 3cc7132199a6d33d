"""The console in a real browser, over a running ``scaar up``."""

import json
import os
import re
from pathlib import Path

import axe_playwright_python
import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from scaar.cli.serve.services import ServiceName
from scaar.client import EvaluationQuestion, open_sync_evaluation_client

from .conftest import HOSTILE, POLICIES, QUESTION, Recorded, scaar

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
LISTS = (
    *("/", "/answers", "/policies", "/policies/scaar", "/policies/tuned-1.4"),
    *("/indexes", "/indexes?q=Zanzibar&index=hostile", "/evaluations", "/drift", "/system"),
    *("/passages/hostile/markup", "/passages/hostile/long"),
)
EVALUATION = "/evaluations/{evaluation}"
EVALUATIONS = (
    *(EVALUATION, f"{EVALUATION}/predictions", f"{EVALUATION}/predictions?setting=scaar"),
    f"{EVALUATION}/prediction?setting=scaar&question=q1",
    f"{EVALUATION}/prediction?setting=tuned-1.4&question=q2",
    f"{EVALUATION}/compare?a=no_retrieval&b=scaar",
)
RECORDED = (*POLICIES, "tuned", "hostile", "passages", "failed")
PAGES = (*LISTS, *EVALUATIONS, *(f"/answers/{{{each}}}" for each in RECORDED))
MAX_BYTES = 200_000
WIDTHS = (390, 1280, 1920)
SCHEMES = pytest.mark.parametrize(("scheme", "widths"), [("light", WIDTHS), ("dark", (1280,))])
"""Colours, which are the same at every width."""
TABLE_WIDTHS = (390, 768, 820, 1000, 1280, 1920)
CUT_OFF = """
() => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  return [...document.querySelectorAll(".rows")]
    .filter((each) => each.scrollWidth > each.clientWidth)
    .map((each) => [each.getAttribute("aria-label"), each.scrollWidth, each.clientWidth]);
}
"""
"""Returns the tables that are wider than their place."""


def path_of(page: str, recorded: Recorded) -> str:
    return page.format(**recorded.ids)


def check_accessibility(page: Page) -> None:
    """Check that axe finds no violation on a page."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run()")["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []


@SCHEMES
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_every_width(
    page: Page, recorded: Recorded, name: str, scheme: str, widths: tuple[int, ...]
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        response = page.goto(path_of(name, recorded))
        assert response is not None
        assert response.status == 200
        assert len(response.body()) < MAX_BYTES
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        check_accessibility(page)


@SCHEMES
def test_a_report_is_accessible_and_fits_every_width(
    browser: Browser, recorded: Recorded, scheme: str, widths: tuple[int, ...]
) -> None:
    # The report's own policy forbids scripts, and so the scripts of axe.
    page = browser.new_page(base_url=recorded.url, color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(path_of(f"{EVALUATION}/report", recorded))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        check_accessibility(page)
    page.close()


def test_an_evaluation_shows_its_progress_while_it_runs(page: Page, recorded: Recorded) -> None:
    questions = [EvaluationQuestion(f"q{each}", QUESTION, ("x",)) for each in range(5_000)]
    with open_sync_evaluation_client(recorded.lab.target_of(ServiceName.EVALUATOR)) as client:
        created = client.create_evaluation(["no_retrieval"], questions=questions, indexes=["lab"])
        try:
            path = f"/evaluations/{created.id}"
            page.goto(path)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                check_accessibility(page)
            shown = page.locator("#progress progress")
            before = int(shown.get_attribute("value") or "")
            # The page replaces its progress by itself.
            expect(shown).not_to_have_attribute("value", str(before), timeout=60_000)
            assert int(shown.get_attribute("value") or "") > before
            assert page.request.get(f"{path}/report").status == 409
        finally:
            client.cancel_evaluation(created.id)
        page.reload()
        expect(page.locator("#progress")).to_contain_text("cancelled")


@pytest.mark.parametrize("name", PAGES)
def test_no_table_is_wider_than_its_place(page: Page, recorded: Recorded, name: str) -> None:
    page.goto(path_of(name, recorded))
    for width in TABLE_WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(CUT_OFF) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_navigation_leads_to_every_page(page: Page) -> None:
    page.goto("/")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link").all()
    paths = [each.get_attribute("href") for each in links]
    assert paths == ["/", "/answers", "/policies", "/indexes", "/evaluations", "/drift", "/system"]
    for path in paths:
        page.goto(str(path))
        current = page.locator("nav [aria-current=page]")
        assert current.get_attribute("href") == path
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("To the content")


def test_an_answer_of_five_sentences_and_two_searches_is_short_on_a_phone(
    page: Page, recorded: Recorded
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(path_of("/answers/{long}", recorded))
    sentences = page.locator(".sentence h3").all_inner_texts()
    assert sentences[-1] == "Sentence 5"
    reasons = page.locator(".reason").all_inner_texts()
    assert sum(reason.startswith("It searched because ") for reason in reasons) == 2
    assert page.evaluate("document.documentElement.scrollHeight") <= 3_500


def test_a_sentence_links_to_the_passage_that_supports_it(page: Page, recorded: Recorded) -> None:
    page.goto(path_of("/answers/{long}", recorded))
    supported = page.locator(".written", has_text="Supported by").first
    supported.get_by_role("link", name="The Velvet Statue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The Velvet Statue")
    expect(page.locator("#passage")).to_contain_text("released in 1937")


def test_the_examples_follow_the_chosen_index(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#examples a")).to_have_count(2)
    page.get_by_label("Index").select_option("hostile")
    # Its titles are too long for a question.
    expect(page.locator("#examples a")).to_have_count(0)
    page.get_by_label("Index").select_option("lab")
    page.get_by_role("link", name="The Haunted Fountain").click()
    expect(page.get_by_label("Question")).to_have_value(re.compile("The Haunted Fountain"))


def test_a_question_is_answered_word_by_word_and_leads_to_its_record(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Question").fill("When was the film The Haunted Fountain released?")
    page.get_by_label("Policy").select_option("flare")
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#live .reason").first).to_be_visible(timeout=30_000)
    link = page.get_by_role("link", name="The record of this answer")
    expect(link).to_be_visible(timeout=30_000)
    answer = page.locator("#live .answer").inner_text()
    link.click()
    expect(page.locator("h1")).to_have_text("When was the film The Haunted Fountain released?")
    expect(page.locator(".answer")).to_have_text(answer)
    assert re.search(r"/answers/[0-9a-f]{32}$", page.url)


def test_pages_work_without_javascript(browser: Browser, recorded: Recorded) -> None:
    context = browser.new_context(base_url=recorded.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Question").fill(QUESTION)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#live .answer")).to_be_visible(timeout=30_000)
    assert page.locator("#live section.sentence").count() >= 2
    page.goto(f"/answers/{recorded.ids['scaar']}?theta=0.01")
    expect(page.locator("#what-if-outcome")).to_contain_text("0 retrievals")
    context.close()


@pytest.mark.parametrize("theta", [0.02, 0.12, 0.9])
def test_the_slider_shows_what_a_real_answer_would_do(
    page: Page, recorded: Recorded, theta: float
) -> None:
    page.goto(f"/answers/{recorded.ids['scaar']}")
    with page.expect_response(lambda response: "/what-if" in response.url):
        page.locator("#what-if-theta").evaluate(
            "(slider, value) => { slider.value = value;"
            " slider.dispatchEvent(new Event('input', {bubbles: true})); }",
            str(theta),
        )
    drafts = scaar(
        *("records", "explain", recorded.ids["scaar"], "--theta", str(theta)),
        *("--address", recorded.records, "--format", "json"),
    )
    would = [each["would_retrieve"] == "yes" for each in drafts]
    differs = [each["would_retrieve"] != each["retrieved"] for each in drafts]
    expect(page.locator("#what-if-outcome")).to_contain_text(f"{sum(would)} retrieval")
    rows = page.locator("#what-if-outcome table").last.locator("tbody tr")
    expect(rows).to_have_count(len(drafts))
    for row, retrieves in zip(rows.all(), would, strict=True):
        wanted = "retrieve" if retrieves else "keep the draft"
        expect(row.locator("td").nth(1)).to_contain_text(wanted)
    events = scaar(
        *("ask", QUESTION, "--policy", "scaar", "--set", f"theta={theta}"),
        *("--address", recorded.lab.target, "--json"),
    )
    real = [each for each in events if each.get("event") == "sentence_judged"]
    until = differs.index(True) + 1 if any(differs) else len(drafts)
    assert [each.get("retrieving", False) for each in real[:until]] == would[:until]


def test_a_typed_threshold_is_judged_and_moves_the_slider(page: Page, recorded: Recorded) -> None:
    page.goto(f"/answers/{recorded.ids['scaar']}")
    page.get_by_text("What if the threshold were another one?").click()
    outcome = page.locator("#what-if-outcome")
    page.get_by_label("Threshold θ", exact=True).fill("0.0125")
    expect(outcome).to_contain_text("at θ = 0.0125")
    assert page.locator("#what-if-theta").input_value() == "0.0125"
    page.get_by_label("Threshold θ", exact=True).fill("7")
    expect(outcome.locator(".notice")).to_contain_text("overrides.theta: must be")
    page.get_by_label("Policy").select_option("tuned-1.4")
    expect(outcome).to_contain_text("of policy tuned-1.4 at θ = 1.25")
    assert page.get_by_label("Threshold θ", exact=True).input_value() == "1.255"
    slider = page.locator("#what-if-theta")
    assert float(slider.get_attribute("min") or "") == 1.0
    slider.evaluate(
        "(slider) => { slider.value = slider.max;"
        " slider.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    expect(outcome).to_contain_text("0 retrievals")
    assert page.get_by_label("Threshold θ", exact=True).input_value() != "1.255"


def test_answers_are_filtered_and_linked(page: Page, recorded: Recorded) -> None:
    page.goto("/answers")
    page.get_by_label("Policy").fill("dragin")
    page.get_by_role("button", name="Search").click()
    rows = page.locator("table.data tbody tr")
    expect(rows).to_have_count(1)
    assert "policy=dragin" in page.url
    rows.first.get_by_role("link").first.click()
    assert page.url.endswith(recorded.ids["dragin"])


def test_a_record_is_its_json(page: Page, recorded: Recorded) -> None:
    found = page.request.get(f"/answers/{recorded.ids['scaar']}.json")
    record = json.loads(found.text())
    assert record["request"]["question"] == QUESTION
    assert record["summary"]["id"] == recorded.ids["scaar"]


def test_hostile_text_is_shown_and_never_run(page: Page, recorded: Recorded) -> None:
    page.goto(f"/answers/{recorded.ids['hostile']}")
    shown = page.locator("h1").inner_text()
    assert shown.startswith('<img src=x onerror="document.title=1"><script>')
    assert page.title() not in ("1", "run")
    page.goto(f"/answers?text={HOSTILE[:20]}")
    assert page.locator("img").count() == 0
    page.goto("/?question=%3Cscript%3Edocument.title=1%3C/script%3E")
    assert page.title() == "Ask - scaar"


def test_errors_are_pages_that_say_what_is_wrong(page: Page) -> None:
    response = page.goto("/answers/unknown")
    assert response is not None
    assert response.status == 404
    expect(page.locator(".notice")).to_contain_text("there is no record 'unknown'")
    response = page.goto("/nowhere")
    assert response is not None
    assert response.status == 404


def test_a_service_that_does_not_respond_is_named(unrecorded: str) -> None:
    for path, status in (("/answers", 503), ("/answers/any", 503), ("/", 200), ("/policies", 200)):
        response = httpx2.get(f"{unrecorded}{path}", timeout=60)
        assert response.status_code == status
    assert "records" in httpx2.get(f"{unrecorded}/answers", timeout=60).text
    assert httpx2.get(f"{unrecorded}/system", timeout=60).status_code == 200


def test_feedback_is_taken_only_by_a_console_that_may(
    browser: Browser, recorded: Recorded, writable: str
) -> None:
    name = recorded.ids["scaar"]
    refused = httpx2.post(f"{recorded.url}/answers/{name}/feedback", data={"verdict": "wrong"})
    assert refused.status_code == 403
    page = browser.new_page()
    page.goto(f"{writable}/answers/{name}")
    page.get_by_label("wrong").check()
    page.get_by_label("Comment").fill("It was somebody else.")
    page.get_by_role("button", name="Send feedback").click()
    expect(page.locator("#feedback")).to_contain_text("Verdict: wrong, It was somebody else.")
    page.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
def test_requests_of_other_sites_change_nothing(
    recorded: Recorded, writable: str, headers: dict[str, str]
) -> None:
    for path in (f"/answers/{recorded.ids['scaar']}/feedback", "/", "/ask"):
        form = {"verdict": "correct", "question": "Who?"}
        response = httpx2.post(f"{writable}{path}", data=form, headers=headers)
        assert response.status_code == 403


def test_every_response_has_the_headers_that_protect_it(recorded: Recorded) -> None:
    paths = ("/", "/answers", "/answers/unknown", "/static/console.css", "/nowhere")
    for path in paths:
        headers = httpx2.get(f"{recorded.url}{path}").headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in headers


def test_a_link_cannot_lead_to_another_site(recorded: Recorded) -> None:
    for path in ("//evil.example", "/answers/of-request//evil.example", "/%2f%2fevil.example"):
        found = httpx2.get(f"{recorded.url}{path}", follow_redirects=False, timeout=20)
        assert "evil.example" not in found.headers.get("location", "")


def test_the_pictures_of_the_documentation_are_drawn(
    browser: Browser, recorded: Recorded, tmp_path: Path
) -> None:
    """With SCAAR_CONSOLE_PICTURES=docs/console, the pictures of docs/console.md are written."""
    folder = Path(os.environ.get("SCAAR_CONSOLE_PICTURES") or tmp_path)
    page = browser.new_page(base_url=recorded.url, viewport={"width": 1000, "height": 900})
    for name, path in (
        ("answer", f"/answers/{recorded.ids['scaar']}"),
        ("answers", "/answers?text=Velvet+Statue"),
    ):
        page.goto(path)
        picture = page.screenshot(path=folder / f"{name}.png")
        assert len(picture) > 10_000
    page.goto(f"/answers/{recorded.ids['scaar']}?theta=0.12")
    page.locator("#what-if").screenshot(path=folder / "what-if.png")
    page.close()
