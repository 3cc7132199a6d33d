"""A service killed and started again under load, or held up: real processes, the lab's models.

What is asked meanwhile is answered as ever, or fails as unavailable, or stands degraded where the
caller would have it so; nothing hangs, and afterwards all is as it was.
"""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scaar.client import Answer, BackendUnavailable, Client, ScaarError, open_client
from scaar.lab.questions import draw_questions
from scaar.lab.world import build_world
from scaar.testing.ports import free_port
from scaar.testing.processes import RunningService, running_service

BACK_ENDS = ("generator", "scorer", "query-builder", "retriever")
WORKERS = 8
QUESTIONS = [
    question.question for question in draw_questions(build_world(2000), count=4, split="tail")
]


@dataclass
class Platform:
    """The five services as processes."""

    home: Path
    services: dict[str, RunningService] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    stack: ExitStack = field(default_factory=ExitStack)

    def start(self, name: str, **environment: str) -> None:
        """Starts a service, where it was before if it was; returns when it serves."""
        address = self.addresses.get(name) or f"127.0.0.1:{free_port()}"
        running = running_service(name, self.home, address=address, **environment)
        service = self.stack.enter_context(running)
        self.addresses[name] = service.target.removeprefix("dns:///")
        self.services[name] = service

    def kill(self, name: str) -> None:
        """Kills it as the kernel would; returns when it is gone."""
        self.services[name].process.send_signal(signal.SIGKILL)
        self.services[name].process.wait()


@contextmanager
def running_platform(home: Path) -> Iterator[Platform]:
    platform = Platform(home)
    with platform.stack:
        for name in BACK_ENDS:
            platform.start(name)
        targets = {
            f"SCAAR_ORCHESTRATOR_{name.upper().replace('-', '_')}_TARGET": f"dns:///{address}"
            for name, address in platform.addresses.items()
        }
        platform.start("orchestrator", **targets)
        yield platform


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with running_platform(tmp_path_factory.mktemp("platform") / "home") as running:
        yield running


class Load:
    """Clients that ask without a pause; ``reported`` counts the outcomes of each question."""

    def __init__(self, client: Client, expected: dict[str, str], on_failure: str) -> None:
        self._client = client
        self._expected = expected
        self._on_failure = on_failure
        self._changed = asyncio.Condition()
        self.reported: Counter[str] = Counter()

    async def ask_on(self, first: int) -> None:
        number = first
        while True:
            question = QUESTIONS[number % len(QUESTIONS)]
            try:
                answer = await self._client.answer(question, on_failure=self._on_failure)
                outcome = self._outcome(question, answer)
            except BackendUnavailable:
                outcome = "unavailable"
            except ScaarError as error:
                outcome = f"{error.reason}: {error.message}"
            async with self._changed:
                self.reported[outcome] += 1
                self._changed.notify_all()
            number += 1

    async def until(self, enough: Callable[[Counter[str]], bool]) -> None:
        """Return when enough outcomes were reported; wait at most a minute."""
        async with asyncio.timeout(60), self._changed:
            await self._changed.wait_for(lambda: enough(self.reported))

    def _outcome(self, question: str, answer: Answer) -> str:
        if answer.degraded:
            return "degraded"
        return "as ever" if answer.text == self._expected[question] else f"wrong: {answer.text}"


async def until_ready(client: Client) -> None:
    """Return when the orchestrator has found its services, at most a minute after its start."""
    async with asyncio.timeout(60):
        while True:
            with suppress(BackendUnavailable):
                await client.answer(QUESTIONS[0])
                return
            await asyncio.sleep(0.1)


@asynccontextmanager
async def load(platform: Platform, on_failure: str) -> AsyncIterator[Load]:
    async with open_client(platform.services["orchestrator"].target) as client:
        await until_ready(client)
        expected = {question: (await client.answer(question)).text for question in QUESTIONS}
        asking = Load(client, expected, on_failure)
        async with asyncio.TaskGroup() as workers:
            tasks = [workers.create_task(asking.ask_on(number)) for number in range(WORKERS)]
            yield asking
            for task in tasks:
                task.cancel()


@pytest.mark.parametrize(
    ("victim", "on_failure", "outcome"),
    [
        ("generator", "fail", "unavailable"),
        pytest.param("scorer", "fail", "unavailable", marks=pytest.mark.long),
        pytest.param("retriever", "fail", "unavailable", marks=pytest.mark.long),
        pytest.param("scorer", "accept_draft", "degraded", marks=pytest.mark.long),
        pytest.param("retriever", "accept_draft", "degraded", marks=pytest.mark.long),
    ],
)
async def test_a_service_that_is_killed_under_load_comes_back(
    platform: Platform, victim: str, on_failure: str, outcome: str
) -> None:
    async with load(platform, on_failure) as asking:
        await asking.until(lambda reported: reported["as ever"] >= WORKERS)
        await asyncio.to_thread(platform.kill, victim)
        # More than fail before the breaker opens, the workers' calls in flight included.
        await asking.until(lambda reported: reported[outcome] >= 4 * WORKERS)
        await asyncio.to_thread(platform.start, victim)
        before = asking.reported["as ever"]
        await asking.until(lambda reported: reported["as ever"] >= before + 4 * WORKERS)
    assert set(asking.reported) <= {"as ever", outcome}
    orchestrator = platform.services["orchestrator"]
    assert orchestrator.process.poll() is None
    assert not [line for line in orchestrator.output_lines() if "Traceback" in line]
    opened = f"{victim} at {platform.services[victim].target} fails: its breaker opens"
    assert [line for line in orchestrator.output_lines() if opened in line]


@pytest.mark.long
async def test_a_service_that_hangs_under_load_is_not_waited_for_by_every_answer(
    platform: Platform,
) -> None:
    hanging = platform.services["retriever"].process
    async with load(platform, "accept_draft") as asking:
        await asking.until(lambda reported: reported["as ever"] >= WORKERS)
        hanging.send_signal(signal.SIGSTOP)
        try:
            # More than there can be if each waits for its index and for its passages.
            await asking.until(lambda reported: reported["degraded"] >= 6 * WORKERS)
        finally:
            hanging.send_signal(signal.SIGCONT)
        before = asking.reported["as ever"]
        await asking.until(lambda reported: reported["as ever"] >= before + 4 * WORKERS)
    assert set(asking.reported) <= {"as ever", "degraded"}
    opened = f"retriever at {platform.services['retriever'].target} fails: its breaker opens"
    assert [line for line in platform.services["orchestrator"].output_lines() if opened in line]
