import importlib
import pkgutil

import pytest
from google.protobuf.descriptor import EnumDescriptor

from scaar import v1
from scaar.core import evaluations, records, types
from scaar.wire.messages.codec import enum_codec

ENUMS: list[EnumDescriptor] = [
    each
    for module in pkgutil.iter_modules(v1.__path__)
    if module.name.endswith("_pb2")
    for each in importlib.import_module(
        f"scaar.v1.{module.name}"
    ).DESCRIPTOR.enum_types_by_name.values()
]


@pytest.mark.parametrize("wire", ENUMS, ids=lambda each: each.name)
def test_every_value_of_the_contract_but_the_unspecified_is_a_member(wire: EnumDescriptor) -> None:
    kind = {**vars(evaluations), **vars(records), **vars(types)}[wire.name]
    codec = enum_codec(kind, wire)
    assert [each.number for each in wire.values] == list(range(len(kind) + 1))
    assert sorted(map(codec.write, kind)) == list(range(1, len(kind) + 1))
    assert [codec.read(codec.write(member)) for member in kind] == list(kind)


def test_the_contract_has_thirty_seven_enums() -> None:
    assert len(ENUMS) == 37
