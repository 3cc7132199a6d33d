"""A small hand for writing ONNX graphs: every operation a call that returns its output's name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
"""The first with LayerNormalization; every ONNX Runtime since 1.12 and TensorRT 8.6 read it."""

IR_VERSION = 8

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL

Dimensions = Sequence[int | str]
"""A tensor's shape; a name stands for a length known only at run time."""


class OnnxGraph:
    """A graph in the making. The same calls in the same order give the same bytes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, kind: int, shape: Dimensions) -> str:
        """Declares an input of the graph."""
        self._inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, name: str, kind: int, shape: Dimensions) -> str:
        """Declares an output of the graph; an operation must be told to give its result so."""
        self._outputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def weight(self, name: str, values: ArrayLike) -> str:
        """A trained tensor, in single precision; the same name twice is one tensor."""
        return self._constant(name, np.asarray(values, np.float32))

    def integers(self, *values: int) -> str:
        """A constant list of integers."""
        return self._constant(f"integers_{'_'.join(map(str, values))}", np.array(values, np.int64))

    def integer(self, value: int) -> str:
        """A constant integer without dimensions."""
        return self._constant(f"integer_{value}", np.array(value, np.int64))

    def number(self, value: float) -> str:
        """A constant number without dimensions."""
        return self._constant(f"number_{value!r}", np.array(value, np.float32))

    def do(self, operation: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Adds an operation with one output and returns the output's name, ``name`` if given."""
        number = len(self._nodes)
        result = name or f"{operation.lower()}_{number}"
        self._nodes.append(
            helper.make_node(
                operation, list(inputs), [result], name=f"{operation}_{number}", **attributes
            )
        )
        return result

    def linear(self, rows: str, matrix: str, bias: str = "") -> str:
        """``rows @ matrix``, plus the bias if there is one."""
        product = self.do("MatMul", rows, matrix)
        return self.do("Add", product, bias) if bias else product

    def to_bytes(self) -> bytes:
        """The checked model, weights inside.

        Raises:
            onnx.checker.ValidationError: the graph is not valid.
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

    def _constant(self, name: str, values: np.ndarray[Any, Any]) -> str:
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(values, name)
        return name
