"""An orchestrator with constant answers that can be made to wait, and that records its requests.

    python steady_orchestrator.py FOLDER HOST:PORT [MOST_CALLS]

It appends each request as a line to the file ``requested`` in the folder, and waits with the answer
while the file ``hold`` exists; ``held`` contains the number of waiting answers. A question that
contains the word poison cannot be answered.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from scaar.core.errors import ScaarError
from scaar.core.types import AnswerEvent, AnswerRequest, AnswerStarted
from scaar.runtime.server import open_server
from scaar.runtime.settings import ServiceSettings
from scaar.testing.steady_answerer import SteadyAnswerer
from scaar.wire.orchestrator import OrchestratorServicer
from scaar.wire.status import status_of


class HeldAnswerer(SteadyAnswerer):
    """Constant answers that wait while a file exists."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._held = 0
        self._count(0)

    async def stream_answer(self, request: AnswerRequest) -> AsyncGenerator[AnswerEvent, None]:
        async for event in super().stream_answer(request):
            yield event
            if isinstance(event, AnswerStarted):
                await self._hold(f"{request.policy.name}: {request.question}\n")
                if "poison" in request.question:
                    raise ScaarError("there is no answer")

    async def _hold(self, line: str) -> None:
        with (self._folder / "requested").open("a") as requested:
            requested.write(line)
        self._count(1)
        try:
            # Another process creates and removes the file.
            while (self._folder / "hold").exists():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        self._held += more
        file = self._folder / "held.new"
        file.write_text(str(self._held))
        file.rename(self._folder / "held")


async def _serve(folder: Path, address: str, most: int) -> None:
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    settings = ServiceSettings(max_concurrent_calls=most, stop_grace_s=0.0)
    servicer = OrchestratorServicer(HeldAnswerer(folder))
    async with open_server([servicer], address, settings, status_of=status_of):
        await stopping.wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
