"""The lab's model behind OpenAI's interface answers as it does embedded."""

import asyncio
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from scaar.generator.engines.openai_server.dialects import DialectName
from scaar.lab.questions import Question
from scaar.lab_servers.openai import OpenAiServer, open_openai_server
from scaar.testing.commands import run_scaar

from .answer_files import answer_all

Reported = tuple[object, ...]
POLICIES = {
    # The recommendations of the lab's model, which a server does not report.
    "scaar": ("--set", "theta=0.25", "--set", "alpha=75"),
    "flare": ("--set", "theta=0.35"),
    "ircot": (),
}


@contextmanager
def serving(dialect: DialectName, *fail: str) -> Iterator[OpenAiServer]:
    """The server on a thread of its own: a command has its own event loop."""
    started, loops = threading.Event(), list[asyncio.AbstractEventLoop]()
    servers, stopping = list[OpenAiServer](), list[asyncio.Event]()

    async def serve() -> None:
        async with open_openai_server(dialect=dialect, fail=fail) as server:
            loops.append(asyncio.get_running_loop())
            servers.append(server)
            stopping.append(asyncio.Event())
            started.set()
            await stopping[0].wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert started.wait(60)
        yield servers[0]
    finally:
        loops[0].call_soon_threadsafe(stopping[0].set)
        thread.join()


def use(monkeypatch: pytest.MonkeyPatch, server: OpenAiServer, **settings: str) -> None:
    given = {"engine": "openai", "url": server.url, "prompt_profile": "lab", **settings}
    for name, value in given.items():
        monkeypatch.setenv(f"SCAAR_GENERATOR_{name.upper()}", value)


def answers(questions: list[Question], *options: str) -> list[Reported]:
    """Of every question the answer, its text, and what was retrieved for it."""
    return [
        (each["answer"], each["text"], each["end"], each["retrievals"])
        for each in answer_all(questions, *options)
    ]


@pytest.fixture(scope="session")
def embedded(lab_home: object, tail_questions: list[Question]) -> dict[str, list[Reported]]:
    """What the embedded engine answers, by policy."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SCAAR_HOME", str(lab_home))
        return {
            policy: answers(tail_questions, "--policy", policy, *options)
            for policy, options in POLICIES.items()
        }


@pytest.mark.parametrize(
    ("dialect", "openai_api", "policy"),
    [
        *(("vllm", api, policy) for api in ("completions", "chat") for policy in POLICIES),
        *((dialect, "completions", "scaar") for dialect in ("openai", "sglang", "llama_cpp")),
        *((dialect, "chat", "scaar") for dialect in ("sglang", "llama_cpp")),
    ],
)
def test_ten_questions_are_answered_as_by_the_embedded_engine(
    dialect: DialectName,
    openai_api: str,
    policy: str,
    embedded: dict[str, list[Reported]],
    tail_questions: list[Question],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(dialect) as server:
        use(monkeypatch, server, openai_api=openai_api)
        found = answers(tail_questions, "--policy", policy, *POLICIES[policy])
        assert len(server.generations.accepted) > len(tail_questions)
    assert found == embedded[policy]


def test_a_chat_that_is_reported_to_go_on_answers_the_same_though_it_repeats(
    embedded: dict[str, list[Reported]],
    tail_questions: list[Question],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving("openai", "repeats") as server:
        use(monkeypatch, server, openai_api="chat")
        found = answers(tail_questions[:4], "--policy", "scaar", *POLICIES["scaar"])
        assert any(requested.restated for requested in server.generations.accepted)
    assert found == embedded["scaar"][:4]


def test_with_the_recommended_settings_a_server_answers_as_the_embedded_engine(
    embedded: dict[str, list[Reported]],
    tail_questions: list[Question],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recommended = '{"scaar": {"theta": 0.25, "alpha": 75}, "flare": {"theta": 0.35}}'
    with serving("vllm") as server:
        use(monkeypatch, server, recommended=recommended)
        for policy in ("scaar", "flare"):
            found = answers(tail_questions[:4], "--policy", policy)
            assert found == embedded[policy][:4]


@pytest.mark.parametrize(
    ("dialect", "openai_api", "kinds", "message"),
    [
        ("vllm", "chat", ("native", "raw"), ""),
        ("openai", "chat", ("restated", "unknown"), "continues from restated text"),
        ("sglang", "completions", ("native", "processed"), "processed log-probabilities"),
    ],
)
def test_the_events_and_the_doctor_report_how_the_model_continues(
    dialect: DialectName,
    openai_api: str,
    kinds: tuple[str, str],
    message: str,
    tail_questions: list[Question],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving(dialect) as server:
        use(monkeypatch, server, openai_api=openai_api)
        events = run_scaar("ask", tail_questions[0].question, "--json").records
        for made in (events[0]["provenance"], events[-1]["provenance"]):
            assert (made["continuation"], made["logprob_kind"]) == kinds
        (line,) = [
            each
            for each in run_scaar("doctor").out.splitlines()
            if each.startswith("✓ generator model: lab-lm on openai")
        ]
        assert line.removesuffix(message).endswith(", " if message else "prompt profile lab")


@pytest.mark.parametrize("policy", ["scaar", "flare"])
@pytest.mark.parametrize("fail", ["no-logprobs", "refused-logprobs"])
def test_without_log_probabilities_a_policy_that_judges_is_refused_by_name(
    fail: str, policy: str, tail_questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving("openai", fail) as server:
        use(monkeypatch, server, openai_api="chat")
        refused = run_scaar("ask", tail_questions[0].question, "--policy", policy)
        assert refused.status == 1
        assert refused.err.startswith(f"scaar: policy {policy} needs logprobs, which model lab-lm")
        ran = run_scaar("ask", tail_questions[0].question, "--policy", "ircot", "--json")
        assert ran.status == 0


def test_the_server_of_the_command_answers_and_stops(
    tail_questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-m", "scaar.cli", "lab", "openai"]
    options = ["--address", "127.0.0.1:0", "--dialect", "sglang"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            message = process.stderr.readline()
            found = re.fullmatch(
                r"OpenAI-compatible API \(sglang\) serving at (http://\S+)\n", message
            )
            assert found, message
            setting = f"SCAAR_GENERATOR_ENGINE=openai SCAAR_GENERATOR_URL={found[1]}"
            assert setting in process.stderr.readline()
            for name, value in (("ENGINE", "openai"), ("URL", found[1]), ("PROMPT_PROFILE", "lab")):
                monkeypatch.setenv(f"SCAAR_GENERATOR_{name}", value)
            ran = run_scaar("ask", tail_questions[0].question, "--json")
            assert (ran.status, ran.err) == (0, "")
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_a_wrong_kind_of_failure_lists_all() -> None:
    ran = run_scaar("lab", "openai", "--address", "127.0.0.1:0", "--fail", "fire")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(
        "scaar: --fail: unknown failure 'fire'; known: overload, unavailable, "
    )


def test_an_unreachable_server_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serving("vllm") as server:
        pass
    use(monkeypatch, server)
    ran = run_scaar("ask", "Who?")
    message = f"scaar: the model server at {server.url} does not answer\n"
    assert (ran.status, ran.out, ran.err) == (1, "", message)
