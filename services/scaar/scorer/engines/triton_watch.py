"""Periodic check of a model on Triton: whether the model is available and compatible."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from scaar.core.errors import BackendUnavailable, DeadlineExceeded, ScaarError
from scaar.scorer.engines.triton_contract import ServedModel, served_model
from scaar.scorer.engines.triton_model import TritonModel

POLL_INTERVAL_S = 1.0
_CHECK_TIMEOUT_S = 5.0
_FAILURE_DELAY_S = 0.2
_LOGGER = logging.getLogger(__name__)


@asynccontextmanager
async def watch_model(
    model: TritonModel, *, tokenizer_sha256: str, interval_s: float = POLL_INTERVAL_S
) -> AsyncIterator["TritonWatch"]:
    """Check the model now, and then periodically until the block ends.

    A server that does not respond yet is not an error.

    Raises:
        CapabilityMissing: the server does not have the model, or has an incompatible one.
    """
    watch = TritonWatch(model, tokenizer_sha256)
    await watch.refresh()
    if not isinstance(watch.error, BackendUnavailable | DeadlineExceeded | None):
        raise watch.error
    task = asyncio.create_task(watch.run(interval_s))
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class TritonWatch:
    """Result of the last check: a model, or the ``error`` for which there is none."""

    def __init__(self, model: TritonModel, tokenizer_sha256: str) -> None:
        self.error: ScaarError | None = None
        self._model = model
        self._tokenizer_sha256 = tokenizer_sha256
        self._served: ServedModel | None = None
        self._invalidated = asyncio.Event()

    def served(self) -> ServedModel:
        """Return the model.

        Raises:
            BackendUnavailable: the server does not respond, or its model is not ready.
            CapabilityMissing: the model is missing, or no longer compatible.
        """
        if self._served is None:
            error = self.error or BackendUnavailable(f"{self._model.target} was not checked yet")
            # Every caller gets a new error, since raising one again extends its traceback.
            raise type(error)(error.message, **error.metadata)
        return self._served

    def invalidate(self, error: ScaarError) -> None:
        """Fail calls with this error of a call, and check the model again immediately."""
        self._served, self.error = None, error
        self._invalidated.set()

    async def refresh(self) -> None:
        """Check the model once. Errors are stored, not raised."""
        target, name = self._model.target, self._model.name
        found, error = None, None
        try:
            looked = await self._model.inspect(timeout_s=_CHECK_TIMEOUT_S)
            found = served_model(looked, tokenizer_sha256=self._tokenizer_sha256, target=target)
        except ScaarError as caught:
            error = caught
        if found is not None and found != self._served:
            _LOGGER.info("model %s at %s is ready, revision %s", name, target, found.revision)
        if error is not None and (self.error is None or error.message != self.error.message):
            _LOGGER.warning("model %s at %s is not available: %s", name, target, error)
        self._served, self.error = found, error

    async def run(self, interval_s: float) -> None:
        """Check the model periodically and after :meth:`invalidate`, until cancelled."""
        while True:
            # wait_for would lose a cancellation that coincides with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(interval_s):
                    await self._invalidated.wait()
            self._invalidated.clear()
            await self.refresh()
            # An unreachable server fails every call immediately. Do not check for each of them.
            if self.error is not None:
                await asyncio.sleep(min(interval_s, _FAILURE_DELAY_S))
