"""A running ``scaar up`` with answers, a console that takes feedback, and a browser."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from scaar.cli.serve.services import ServiceName
from scaar.client import EvaluationQuestion, open_sync_evaluation_client
from scaar.lab.models import LAB_LM, model_folder
from scaar.testing.lab_installation import LabInstallation, running_lab
from scaar.testing.processes import running_service

QUESTION = "Who is the spouse of the director of the film The Velvet Statue?"
LONG_QUESTION = "Which film was released first, The Velvet Statue or The Haunted Fountain?"
"""A question that the lab answers in five sentences."""
POLICIES = ("scaar", "flare", "dragin", "single_round", "no_retrieval")
TUNED = "tuned-1.4"
HOSTILE = (
    '<img src=x onerror="document.title=1"><script>document.title = "run"</script> '
    "\u202egnirts\u202c a\u200bb " + "x" * 2000
)
"""A question with markup, a script, other directions, zero-width characters and a long word."""
SCRIPT_URL = "javascript:document.title='run'"
HOSTILE_PASSAGES = (
    {
        "id": "markup",
        "title": "<script>document.title='run'</script> Zanzibar",
        "text": f'Zanzibar </bdi></li></ol><a href="{SCRIPT_URL}">go</a> {HOSTILE}',
        "metadata": {"url": [SCRIPT_URL]},
    },
    {
        "id": "long",
        "title": "\u202e" + "t" * 2000,
        "text": "Zanzibar " + "\u200b".join("x" * 2000),
        "metadata": {"url": ["data:text/html,<script>document.title='run'</script>"]},
    },
)
"""Passages of the index "hostile", which a question with the word Zanzibar finds."""


@dataclass(frozen=True)
class Recorded:
    """A running installation, and the ids of its answers by policy and of its evaluation."""

    lab: LabInstallation
    ids: dict[str, str]

    @property
    def url(self) -> str:
        return self.lab.console_url

    @property
    def records(self) -> str:
        """Target of the service of records."""
        return self.lab.target_of(ServiceName.RECORDS)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scaar")


@pytest.fixture(scope="session")
def recorded(home: Path) -> Iterator[Recorded]:
    tuned = str(model_folder(LAB_LM) / "policies")
    with running_lab(home, SCAAR_ORCHESTRATOR_POLICY_FOLDER=tuned) as lab:
        for policy in (*POLICIES, TUNED):
            scaar("ask", QUESTION, "--policy", policy, "--address", lab.target)
        scaar("ask", LONG_QUESTION, "--policy", "scaar", "--address", lab.target)
        scaar("ask", HOSTILE, "--policy", "flare", "--address", lab.target)
        _build_hostile_index(home, lab)
        searched = ("ask", "Where is Zanzibar?", "--policy", "single_round", "--index", "hostile")
        scaar(*searched, "--address", lab.target)
        with pytest.raises(subprocess.CalledProcessError):
            scaar("ask", QUESTION, "--index", "none", "--address", lab.target)
        records = lab.target_of(ServiceName.RECORDS)
        while len(found := _listed(records)) < len(POLICIES) + 5:
            pass
        asked = {"question": QUESTION, "index": "lab"}
        ids = {policy: _id(found, policy=policy, **asked) for policy in POLICIES}
        ids |= {"tuned": _id(found, policy=TUNED, **asked)}
        ids |= {"long": _id(found, question=LONG_QUESTION)}
        ids |= {"hostile": _hostile(found), "passages": _id(found, index="hostile")}
        ids |= {"failed": _id(found, failure="NOT_FOUND"), "evaluation": _evaluated(lab)}
        yield Recorded(lab, ids)


def _build_hostile_index(home: Path, lab: LabInstallation) -> None:
    corpus = home.with_name("hostile.jsonl")
    corpus.write_text("".join(f"{json.dumps(each)}\n" for each in HOSTILE_PASSAGES))
    built = ("index", "build", "hostile", "--corpus", str(corpus), "--metadata", "url")
    scaar(*built, "--address", lab.target_of(ServiceName.RETRIEVER))


def _evaluated(lab: LabInstallation) -> str:
    """Return the id of an evaluation that has succeeded."""
    questions = [
        EvaluationQuestion(name, text, ("x",)) for name, text in (("q1", QUESTION), ("q2", HOSTILE))
    ]
    with open_sync_evaluation_client(lab.target_of(ServiceName.EVALUATOR)) as client:
        policies = ["no_retrieval", "scaar", TUNED]
        created = client.create_evaluation(policies, questions=questions, indexes=["lab"])
        with client.watch_evaluation(created.id) as progress:
            last = list(progress)[-1]
    assert last.evaluation.state == "succeeded", last
    return created.id


def scaar(*arguments: str) -> list[Any]:
    """Return what a command prints: its lines, as JSON where they are.

    A process of its own, since the event loop of this one is Playwright's.
    """
    command = [sys.executable, "-m", "scaar.cli", *arguments]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


def _listed(records: str) -> list[dict[str, object]]:
    return scaar("records", "list", "--format", "json", "--address", records)


def _id(found: list[dict[str, object]], **wanted: str) -> str:
    return next(
        str(each["id"])
        for each in found
        if all(each[name] == value for name, value in wanted.items())
    )


def _hostile(found: list[dict[str, object]]) -> str:
    return next(str(each["id"]) for each in found if str(each["question"]).startswith("<img"))


@pytest.fixture(scope="session")
def writable(recorded: Recorded, home: Path) -> Iterator[str]:
    """The URL of a second console over the same services, which takes feedback."""
    with running_service(
        "console",
        home,
        SCAAR_CONSOLE_ORCHESTRATOR_TARGET=recorded.lab.target,
        SCAAR_CONSOLE_RECORDS_TARGET=recorded.records,
        SCAAR_CONSOLE_READ_ONLY="false",
    ) as service:
        yield service.target.removeprefix("dns:///")


@pytest.fixture(scope="session")
def unrecorded(recorded: Recorded, home: Path) -> Iterator[str]:
    """The URL of a console whose service of records does not respond."""
    with running_service(
        "console",
        home,
        SCAAR_CONSOLE_ORCHESTRATOR_TARGET=recorded.lab.target,
        SCAAR_CONSOLE_RECORDS_TARGET="dns:///127.0.0.1:1",
    ) as service:
        yield service.target.removeprefix("dns:///")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Callable[..., Browser]]:
    """A function that launches Chromium with further flags, until the tests end."""
    found = os.environ.get("SCAAR_CHROMIUM") or shutil.which("chromium")
    assert found, "Chromium is missing: apt-get install chromium, or set SCAAR_CHROMIUM"
    with sync_playwright() as playwright:

        def launch(*flags: str) -> Browser:
            return playwright.chromium.launch(executable_path=found, args=["--no-sandbox", *flags])

        yield launch


@pytest.fixture(scope="session")
def browser(chromium: Callable[..., Browser]) -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def context(browser: Browser, recorded: Recorded) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=recorded.url)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that neither reports an error nor opens a dialog."""
    wrong: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error":
            wrong.append(message.text)

    page = context.new_page()
    page.on("console", heard)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    yield page
    # A page with an error status is an error of the console, which some tests ask for.
    assert [each for each in wrong if "Failed to load resource" not in each] == []
