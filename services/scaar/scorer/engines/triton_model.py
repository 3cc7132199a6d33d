"""Client of a model on a Triton server over gRPC. The only module that uses Triton's client."""

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
from scaar.encoders.pair_reader import Array
from scaar.encoders.tensor_names import OUTPUT
from scaar.runtime.channels import ChannelSettings, channel_options
from scaar.scorer.engines.triton_contract import ReportedModel, Tensor
from scaar.scorer.engines.triton_tls import is_tls_failure

_QUEUE_FULL = ("Exceeds maximum queue size", "Request timeout expired")
"""Messages of Triton for a full queue, and for a request that waited in it for too long. Both have
the status UNAVAILABLE, as does an unreachable server; only the message differs."""


@asynccontextmanager
async def open_triton_model(
    target: str, name: str, *, credentials: ChannelCredentials | None = None
) -> AsyncIterator["TritonModel"]:
    """Open a client of the model at ``host:port`` or ``dns:///host:port``, not yet connected.

    Without ``credentials``, the connection is plaintext.
    """
    # A full queue is UNAVAILABLE, so retries would increase the overload.
    options = channel_options(ChannelSettings(attempts=1))
    async with InferenceServerClient(target, creds=credentials, channel_args=options) as client:
        yield TritonModel(client, target, name)


class TritonModel:
    """A model of the server. Errors are those of the core; cancellation cancels the request."""

    def __init__(self, client: InferenceServerClient, target: str, name: str) -> None:
        self.target = target
        self.name = name
        self._client = client

    async def inspect(self, *, timeout_s: float) -> ReportedModel:
        """Return what the server reports about the model, once the model is ready.

        Raises:
            CapabilityMissing: the server does not have the model.
            BackendUnavailable: the server does not respond, or the model is not ready.
        """
        with self._errors():
            metadata = await self._client.get_model_metadata(self.name, client_timeout=timeout_s)
            response = await self._client.get_model_config(self.name, client_timeout=timeout_s)
            ready = await self._client.is_model_ready(self.name, client_timeout=timeout_s)
        if not ready:
            text = f"{self.target}: model {self.name!r} is not ready"
            raise BackendUnavailable(text, target=self.target)
        parameters = response.config.parameters.items()
        return ReportedModel(
            name=metadata.name,
            version=max(metadata.versions, key=int, default="1"),
            inputs=_tensors(metadata.inputs),
            outputs=_tensors(metadata.outputs),
            max_batch_size=response.config.max_batch_size,
            parameters={key: value.string_value for key, value in parameters},
        )

    async def logits(self, batch: Mapping[str, Array], *, timeout_s: float) -> Array:
        """Return the logits of a padded batch, [pairs, 1].

        Raises:
            Overloaded: the model's queue is full, or the request waited in it for too long.
            DeadlineExceeded: the timeout has expired.
            BackendUnavailable: the server does not respond.
        """
        inputs = []
        for name, array in batch.items():
            tensor = InferInput(name, list(array.shape), "INT64")
            tensor.set_data_from_numpy(array)
            inputs.append(tensor)
        with self._errors():
            response = await self._client.infer(
                self.name,
                inputs,
                outputs=[InferRequestedOutput(OUTPUT)],
                client_timeout=timeout_s,
            )
        logits: Array | None = response.as_numpy(OUTPUT)
        if logits is None:
            raise DataCorrupt(f"{self.target}: model {self.name!r} returns no {OUTPUT}")
        return logits

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except InferenceServerException as error:
            raise self._error_of(error) from error

    def _error_of(self, error: InferenceServerException) -> ScaarError:
        target, message = self.target, error.message()
        match (error.status() or "").removeprefix("StatusCode."):
            case "UNAVAILABLE" if any(sign in message for sign in _QUEUE_FULL):
                return Overloaded(f"{target}: the queue of {self.name!r} is full", target=target)
            case "RESOURCE_EXHAUSTED":
                return Overloaded(f"{target} is overloaded: {message}", target=target)
            case "UNAVAILABLE" if is_tls_failure(message):
                text = f"{target}: TLS fails; check SCAAR_SCORER_TRITON_CA_FILE: {message}"
                return CapabilityMissing(text, target=target)
            case "UNAVAILABLE" | "CANCELLED":
                text = f"{target} does not respond"
                return BackendUnavailable(text, detail=message, target=target)
            case "DEADLINE_EXCEEDED":
                return DeadlineExceeded(f"{target} did not respond in time", target=target)
            case "NOT_FOUND":
                text = f"{target} has no model {self.name!r}: {message}"
                return CapabilityMissing(text, target=target, model=self.name)
            case "INVALID_ARGUMENT" | "UNIMPLEMENTED" | "FAILED_PRECONDITION":
                text = f"{target}: model {self.name!r} rejects the request: {message}"
                return CapabilityMissing(text, target=target, model=self.name)
            case status:
                text = f"{target}: model {self.name!r} fails with {status}: {message}"
                return ScaarError(text, target=target)


def _tensors(reported: Any) -> dict[str, Tensor]:
    return {each.name: Tensor(each.datatype, tuple(each.shape)) for each in reported}
