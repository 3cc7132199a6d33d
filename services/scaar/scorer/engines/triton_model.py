"""A model of a Triton server, asked over gRPC: the one place that knows Triton's client."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from grpc import ChannelCredentials
from tritonclient.grpc import InferInput, InferRequestedOutput
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException

from scaar.core.errors import (
    BackendUnavailable,
    CapabilityMissing,
    DataCorrupt,
    DeadlineExceeded,
    Overloaded,
    ScaarError,
)
from scaar.runtime.channels import ChannelSettings, channel_options
from scaar.scorer.engines.pair_reader import Array
from scaar.scorer.engines.tensor_names import OUTPUT
from scaar.scorer.engines.triton_contract import FoundModel, Tensor
from scaar.scorer.engines.triton_tls import is_refusal

_NO_ROOM = ("Exceeds maximum queue size", "Request timeout expired")
"""How Triton says that its queue is full, or that a request waited in it for too long. Both are
UNAVAILABLE, as is a server that is gone; no other field tells them apart."""


@asynccontextmanager
async def open_triton_model(
    target: str, name: str, *, credentials: ChannelCredentials | None = None
) -> AsyncIterator["TritonModel"]:
    """The model by that name behind ``host:port`` or ``dns:///host:port``; not yet connected.

    Without ``credentials`` the connection is plaintext.
    """
    # A full queue is UNAVAILABLE: retries here would make an overload worse.
    options = channel_options(ChannelSettings(attempts=1))
    async with InferenceServerClient(target, creds=credentials, channel_args=options) as client:
        yield TritonModel(client, target, name)


class TritonModel:
    """One model by its name; errors are those of the core, and leaving an await cancels it."""

    def __init__(self, client: InferenceServerClient, target: str, name: str) -> None:
        self.target = target
        self.name = name
        self._client = client

    async def look(self, *, timeout_s: float) -> FoundModel:
        """What the server tells of the model, which is ready.

        Raises:
            CapabilityMissing: the server has no such model.
            BackendUnavailable: the server does not answer, or the model is not ready.
        """
        with self._errors():
            told = await self._client.get_model_metadata(self.name, client_timeout=timeout_s)
            answer = await self._client.get_model_config(self.name, client_timeout=timeout_s)
            ready = await self._client.is_model_ready(self.name, client_timeout=timeout_s)
        if not ready:
            text = f"{self.target}: model {self.name!r} is not ready"
            raise BackendUnavailable(text, target=self.target)
        parameters = answer.config.parameters.items()
        return FoundModel(
            name=told.name,
            version=max(told.versions, key=int, default="1"),
            inputs=_tensors(told.inputs),
            outputs=_tensors(told.outputs),
            max_batch_size=answer.config.max_batch_size,
            parameters={key: value.string_value for key, value in parameters},
        )

    async def logits(self, batch: Mapping[str, Array], *, timeout_s: float) -> Array:
        """The logit of each pair of the padded batch, a column.

        Raises:
            Overloaded: the model's queue is full, or the request waited in it for too long.
            DeadlineExceeded: it took longer than the time given.
            BackendUnavailable: the server does not answer.
        """
        inputs = []
        for name, array in batch.items():
            given = InferInput(name, list(array.shape), "INT64")
            given.set_data_from_numpy(array)
            inputs.append(given)
        with self._errors():
            answer = await self._client.infer(
                self.name,
                inputs,
                outputs=[InferRequestedOutput(OUTPUT)],
                client_timeout=timeout_s,
            )
        logits: Array | None = answer.as_numpy(OUTPUT)
        if logits is None:
            raise DataCorrupt(f"{self.target}: model {self.name!r} gives no {OUTPUT}")
        return logits

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except InferenceServerException as error:
            raise self._told(error) from error

    def _told(self, error: InferenceServerException) -> ScaarError:
        target, message = self.target, error.message()
        match (error.status() or "").removeprefix("StatusCode."):
            case "UNAVAILABLE" if any(sign in message for sign in _NO_ROOM):
                return Overloaded(f"{target}: the queue of {self.name!r} is full", target=target)
            case "RESOURCE_EXHAUSTED":
                return Overloaded(f"{target} has no room: {message}", target=target)
            case "UNAVAILABLE" if is_refusal(message):
                text = f"{target}: its TLS does not fit SCAAR_SCORER_TRITON_CA_FILE: {message}"
                return CapabilityMissing(text, target=target)
            case "UNAVAILABLE" | "CANCELLED":
                text = f"{target} does not answer"
                return BackendUnavailable(text, detail=message, target=target)
            case "DEADLINE_EXCEEDED":
                return DeadlineExceeded(f"{target} did not answer in time", target=target)
            case "NOT_FOUND":
                text = f"{target}: there is no model {self.name!r}: {message}"
                return CapabilityMissing(text, target=target, model=self.name)
            case "INVALID_ARGUMENT" | "UNIMPLEMENTED" | "FAILED_PRECONDITION":
                text = f"{target}: model {self.name!r} refuses what it is asked: {message}"
                return CapabilityMissing(text, target=target, model=self.name)
            case status:
                text = f"{target}: model {self.name!r} fails with {status}: {message}"
                return ScaarError(text, target=target)


def _tensors(told: Any) -> dict[str, Tensor]:
    return {each.name: Tensor(each.datatype, tuple(each.shape)) for each in told}
