"""ONNX Runtime sessions on the CPU."""

from pathlib import Path
from typing import Any

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from scaar.core.errors import DataCorrupt

OPEN_ERRORS = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)
"""Errors of ONNX Runtime for an invalid model, or one that it cannot run."""


def open_session(model: Path, *, threads: int) -> Any:
    """Open a session of the file. Blocks while the file is read.

    Raises:
        DataCorrupt: the file is not a model, or ONNX Runtime cannot run it.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # An arena keeps 30 MB and more of the largest batch; without one, a batch takes up to a tenth
    # longer.
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except OPEN_ERRORS as error:
        raise DataCorrupt(f"{model}: ONNX Runtime cannot open it: {error}") from error
