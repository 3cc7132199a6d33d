"""Builder of ONNX graphs, in which each operation is a call that returns its output's name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
"""First opset with LayerNormalization, supported by ONNX Runtime 1.12 and TensorRT 8.6 or later."""

IR_VERSION = 8

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

Dimensions = Sequence[int | str]
"""Shape of a tensor. A name is a dimension that is known only at run time."""


class OnnxGraph:
    """A graph under construction. The same calls in the same order give the same bytes.

    With ``compact``, matrices are stored as 16-bit integers with a scale per column, in half of the
    bytes, and computed with as float32.
    """

    def __init__(self, name: str, *, compact: bool = False) -> None:
        self._name = name
        self._compact = compact
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._unpacked: dict[str, str] = {}

    def input(self, name: str, kind: int, shape: Dimensions) -> str:
        """Declare an input of the graph."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, name: str, kind: int, shape: Dimensions) -> str:
        """Declare an output of the graph. An operation must have its name."""
        self._outputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def weight(self, name: str, values: ArrayLike) -> str:
        """Add a trained tensor, of type float32. Equal names refer to the same tensor."""
        tensor = np.asarray(values, np.float32)
        if not self._compact or tensor.ndim < 2:
            return self._constant(name, tensor)
        if name not in self._unpacked:
            self._unpacked[name] = self._packed(name, tensor)
        return self._unpacked[name]

    def integers(self, *values: int) -> str:
        """Add a constant list of integers."""
        return self._constant(f"integers_{'_'.join(map(str, values))}", np.array(values, np.int64))

    def integer(self, value: int) -> str:
        """Add a constant scalar integer."""
        return self._constant(f"integer_{value}", np.array(value, np.int64))

    def number(self, value: float) -> str:
        """Add a constant scalar float."""
        return self._constant(f"number_{value!r}", np.array(value, np.float32))

    def do(self, operation: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Add an operation with one output. Return the output's name, ``name`` if given."""
        number = len(self._nodes)
        result = name or f"{operation.lower()}_{number}"
        self._nodes.append(
            helper.make_node(
                operation, list(inputs), [result], name=f"{operation}_{number}", **attributes
            )
        )
        return result

    def linear(self, rows: str, matrix: str, bias: str = "") -> str:
        """Add ``rows @ matrix``, plus the bias if given."""
        product = self.do("MatMul", rows, matrix)
        return self.do("Add", product, bias) if bias else product

    def to_bytes(self) -> bytes:
        """Return the validated model, including the weights.

        Raises:
            onnx.checker.ValidationError: the graph is invalid.
        """
        graph = helper.make_graph(
            self._nodes, self._name, self._inputs, self._outputs, list(self._constants.values())
        )
        model = helper.make_model(
            graph,
            producer_name="scaar",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )
        onnx.checker.check_model(model, full_check=True)
        return bytes(model.SerializeToString(deterministic=True))

    def _packed(self, name: str, matrix: np.ndarray[Any, Any]) -> str:
        """Add the matrix as integers, and return its float32 values.

        Integers are three times as exact as half precision, whose bits also encode exponents.
        """
        largest = np.abs(matrix).max(axis=0, keepdims=True)
        scale = np.where(largest > 0, largest / np.iinfo(np.int16).max, np.float32(1))
        integers = self._constant(name, np.round(matrix / scale).astype(np.int16))
        numbers = self.do("Cast", integers, to=FLOAT)
        return self.do("Mul", numbers, self._constant(f"{name}.scale", scale))

    def _constant(self, name: str, values: np.ndarray[Any, Any]) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(values, name)
        return name
