"""Python back end of Triton over a cross-encoder in ONNX Runtime.

Installed beside ``model.onnx`` as ``model.py``. Requests of any length are padded and computed
together, at most ``max_batch_size`` pairs at a time. A request with an empty mask is rejected, and
the others are computed.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import triton_python_backend_utils as triton  # type: ignore[import-not-found]

_Arrays = Mapping[str, "np.ndarray[Any, Any]"]


class TritonPythonModel:
    """The model, which the back end opens in each of its processes."""

    def initialize(self, args: Mapping[str, str]) -> None:
        """Open the model."""
        config = json.loads(args["model_config"])
        self._padding = int(config["parameters"]["padding"]["string_value"])
        self._max_pairs = config["max_batch_size"]
        self._inputs = [each["name"] for each in config["input"]]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        path = Path(args["model_repository"]) / args["model_version"] / "model.onnx"
        self._session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )

    def execute(self, requests: Sequence[Any]) -> list[Any]:
        """Return a response to every request, in order."""
        given = [self._arrays(request) for request in requests]
        wrong = {number: text for number, each in enumerate(given) if (text := _wrong(each))}
        right = [each for number, each in enumerate(given) if number not in wrong]
        logits = iter(self._logits(right))
        return [
            _refused(wrong[number]) if number in wrong else _answer(next(logits))
            for number in range(len(given))
        ]

    def _arrays(self, request: Any) -> _Arrays:
        return {
            name: triton.get_input_tensor_by_name(request, name).as_numpy() for name in self._inputs
        }

    def _logits(self, batches: Sequence[_Arrays]) -> list[Any]:
        """Return the logits of each request's pairs, all computed together."""
        if not batches:
            return []
        counts = [len(each["input_ids"]) for each in batches]
        width = max(each["input_ids"].shape[1] for each in batches)
        padded = {
            name: np.concatenate([self._wide(each[name], name, width) for each in batches])
            for name in self._inputs
        }
        found = []
        for start in range(0, sum(counts), self._max_pairs):
            part = {name: rows[start : start + self._max_pairs] for name, rows in padded.items()}
            found.append(self._session.run(["logits"], part)[0])
        logits = np.concatenate(found).astype(np.float32)
        return list(np.split(logits, np.cumsum(counts)[:-1]))

    def _wide(self, rows: Any, name: str, width: int) -> Any:
        filling = self._padding if name == "input_ids" else 0
        more = width - rows.shape[1]
        return np.pad(rows, ((0, 0), (0, more)), constant_values=filling)


def _wrong(arrays: _Arrays) -> str:
    """Return the error of a request, empty if the request is valid."""
    shapes = {name: array.shape for name, array in arrays.items()}
    if len(set(shapes.values())) != 1:
        return f"inputs must have one shape, not {shapes}"
    if not arrays["attention_mask"].any(axis=1).all():
        return "attention_mask must have a 1 in every row"
    return ""


def _answer(logits: Any) -> Any:
    return triton.InferenceResponse([triton.Tensor("logits", logits)])


def _refused(text: str) -> Any:
    return triton.InferenceResponse(error=triton.TritonError(text, triton.TritonError.INVALID_ARG))
