"""Declarations of the .proto files, with their comments."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)

from scaar.v1 import limits_pb2

Position = tuple[int, ...]
"""Path of a declaration in the descriptor of its file: field numbers and indexes."""

# Field numbers of FileDescriptorProto, DescriptorProto and so on.
_MESSAGES, _ENUMS, _SERVICES = 4, 5, 6
_FIELDS = _METHODS = _VALUES = 2


@dataclass(frozen=True, slots=True)
class Line:
    """A field of a message or a value of an enum. The type of an enum value is empty."""

    name: str
    number: int
    comment: str
    type: str = ""
    label: str = ""
    limits: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a service."""

    name: str
    request: str
    response: str
    comment: str


@dataclass(frozen=True, slots=True)
class Block:
    """A service, a message or an enum."""

    kind: str
    name: str
    comment: str
    lines: tuple[Line, ...] = ()
    limits: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class ProtoFile:
    """The declarations of a file: services, then messages, then enums."""

    path: str
    blocks: tuple[Block, ...]


def read_protos(root: Path) -> tuple[ProtoFile, ...]:
    """Return every .proto file under a folder, ordered by path.

    Raises:
        CalledProcessError: the compiler rejected a file and has printed the reason.
    """
    paths = sorted(str(path.relative_to(root)) for path in root.rglob("*.proto"))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "contract.binpb"
        options = ["--include_source_info", f"--proto_path={root}", f"--descriptor_set_out={made}"]
        command = [sys.executable, "-m", "grpc_tools.protoc", *options, *paths]
        subprocess.run(command, check=True)
        found = FileDescriptorSet.FromString(made.read_bytes())
    return tuple(_file(each) for each in sorted(found.file, key=lambda file: file.name))


def _file(file: FileDescriptorProto) -> ProtoFile:
    comments = {tuple(each.path): each.leading_comments for each in file.source_code_info.location}
    return ProtoFile(file.name, tuple(_blocks(file, comments)))


def _blocks(file: FileDescriptorProto, comments: Mapping[Position, str]) -> Iterator[Block]:
    for at, service in enumerate(file.service):
        yield _service(service, (_SERVICES, at), comments)
    for at, message in enumerate(file.message_type):
        yield _message(message, (_MESSAGES, at), comments)
    for at, enum in enumerate(file.enum_type):
        yield _enum(enum, (_ENUMS, at), comments)


def _service(
    service: ServiceDescriptorProto, at: Position, comments: Mapping[Position, str]
) -> Block:
    calls = tuple(
        Call(
            name=method.name,
            request=("stream " if method.client_streaming else "") + _short(method.input_type),
            response=("stream " if method.server_streaming else "") + _short(method.output_type),
            comment=_text(comments, (*at, _METHODS, number)),
        )
        for number, method in enumerate(service.method)
    )
    return Block("service", service.name, _text(comments, at), calls=calls)


def _message(message: DescriptorProto, at: Position, comments: Mapping[Position, str]) -> Block:
    choices = [each.name for each in message.oneof_decl]
    maps = {each.name: each.field for each in message.nested_type if each.options.map_entry}
    lines = tuple(
        Line(
            name=field.name,
            number=field.number,
            comment=_text(comments, (*at, _FIELDS, number)),
            type=_map_type(maps[entry]) if entry in maps else _type(field),
            label="" if entry in maps else _label(field, choices),
            limits=_field_limits(field),
        )
        for number, field in enumerate(message.field)
        for entry in (_short(field.type_name),)
    )
    return Block("message", message.name, _text(comments, at), lines, limits=_limits(message))


def _enum(enum: EnumDescriptorProto, at: Position, comments: Mapping[Position, str]) -> Block:
    lines = tuple(
        Line(value.name, value.number, _text(comments, (*at, _VALUES, number)))
        for number, value in enumerate(enum.value)
    )
    return Block("enum", enum.name, _text(comments, at), lines)


def _limits(message: DescriptorProto) -> str:
    limits = message.options.Extensions[limits_pb2.request_limits]
    if not limits.ByteSize():
        return ""
    return f"At most {limits.max_bytes:,} bytes and {limits.max_values:,} values."


def _field_limits(field: FieldDescriptorProto) -> str:
    limits = field.options.Extensions[limits_pb2.field_limits]
    found = []
    if limits.max_items:
        found.append(f"{limits.max_items:,} values")
    if limits.max_characters:
        found.append(f"{limits.max_characters:,} characters{' each' if found else ''}")
    return f"Limit: {', '.join(found)}." if found else ""


def _map_type(entry: Sequence[FieldDescriptorProto]) -> str:
    key, value = entry
    return f"map of {_type(key)} to {_type(value)}"


def _type(field: FieldDescriptorProto) -> str:
    if field.type_name:
        return _short(field.type_name)
    return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()


def _label(field: FieldDescriptorProto, choices: Sequence[str]) -> str:
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return "repeated"
    # protoc represents `optional` as a oneof with one member.
    if field.proto3_optional:
        return "optional"
    return f"one of {choices[field.oneof_index]}" if field.HasField("oneof_index") else ""


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _text(comments: Mapping[Position, str], at: Position) -> str:
    """Return the comment above a declaration, with empty lines between paragraphs."""
    lines = (line.strip() for line in comments.get(at, "").splitlines())
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)
