"""Whether a model behind Triton is there and fits: looked at, again and again."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, ScaarError
from scaar.scorer.engines.triton_contract import ServedModel, fitting
from scaar.scorer.engines.triton_model import TritonModel

LOOK_EVERY_S = 1.0
_LOOK_TIMEOUT_S = 5.0
_AFTER_FAILURE_S = 0.2
_LOGGER = logging.getLogger(__name__)


@asynccontextmanager
async def watching_model(
    model: TritonModel, *, tokenizer_sha256: str, every_s: float = LOOK_EVERY_S
) -> AsyncIterator["TritonWatch"]:
    """The watch, with the first look taken; it looks again until the block ends.

    A server that does not answer may come: that is no error here.

    Raises:
        CapabilityMissing: the server has no such model, or one that does not fit.
    """
    watch = TritonWatch(model, tokenizer_sha256)
    await watch.look()
    if not isinstance(watch.error, BackendUnavailable | DeadlineExceeded | None):
        raise watch.error
    task = asyncio.create_task(watch.go_on(every_s))
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class TritonWatch:
    """What the last look found: a model, or the ``error`` why there is none."""

    def __init__(self, model: TritonModel, tokenizer_sha256: str) -> None:
        self.error: ScaarError | None = None
        self._model = model
        self._tokenizer_sha256 = tokenizer_sha256
        self._served: ServedModel | None = None
        self._doubted = asyncio.Event()

    def served(self) -> ServedModel:
        """The model.

        Raises:
            BackendUnavailable: the server does not answer, or its model is not ready.
            CapabilityMissing: the model is gone, or no longer one that fits.
        """
        if self._served is None:
            before = self.error or BackendUnavailable(f"{self._model.target} was not asked yet")
            # Every caller gets an error of its own: one that is raised twice grows its traceback.
            raise type(before)(before.message, **before.metadata)
        return self._served

    def doubt(self, error: ScaarError) -> None:
        """Has the model looked at anew before it is asked again: a call ended with the error."""
        self._served, self.error = None, error
        self._doubted.set()

    async def look(self) -> None:
        """Looks once; what goes wrong is remembered and not raised."""
        target, name = self._model.target, self._model.name
        found, error = None, None
        try:
            looked = await self._model.look(timeout_s=_LOOK_TIMEOUT_S)
            found = fitting(looked, tokenizer_sha256=self._tokenizer_sha256, target=target)
        except ScaarError as caught:
            error = caught
        if found is not None and found != self._served:
            _LOGGER.info("model %s at %s is ready, revision %s", name, target, found.revision)
        if error is not None and (self.error is None or error.message != self.error.message):
            _LOGGER.warning("model %s at %s cannot be asked: %s", name, target, error)
        self._served, self.error = found, error

    async def go_on(self, every_s: float) -> None:
        """Looks again and again, at once where there is doubt, until cancelled."""
        while True:
            # Not wait_for, which loses a cancelling that comes together with the doubt.
            with suppress(TimeoutError):
                async with asyncio.timeout(every_s):
                    await self._doubted.wait()
            self._doubted.clear()
            await self.look()
            # A server that is gone fails every call at once; none of them hurries the next look.
            if self.error is not None:
                await asyncio.sleep(min(every_s, _AFTER_FAILURE_S))
