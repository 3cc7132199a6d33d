"""Server reflection, as ``grpc.reflection.v1`` and as ``grpc.reflection.v1alpha``.

grpcio-reflection has v1alpha only. The messages of both versions are the same on the wire. Every
field of a descriptor has its ``json_name``, which protoc leaves out of Python code: clients such as
grpcurl print the names of fields by it.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from grpc_reflection.v1alpha import reflection, reflection_pb2

V1ALPHA: str = reflection.SERVICE_NAME
V1 = V1ALPHA.replace("v1alpha", "v1")
SERVICE_NAMES = (V1, V1ALPHA)


def add_reflection(server: grpc.aio.Server, service_names: Iterable[str]) -> None:
    """Serve reflection of the named services, and of reflection itself."""
    _register_v1()
    names = (*service_names, *SERVICE_NAMES)
    answering = reflection.aio.ReflectionServicer(names)

    async def reflect(
        requests: AsyncIterator[Any], context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[Any]:
        async for response in answering.ServerReflectionInfo(requests, context):
            yield _with_json_names(response)

    handler = grpc.stream_stream_rpc_method_handler(
        reflect,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        tuple(
            grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": handler})
            for name in SERVICE_NAMES
        )
    )


def _register_v1() -> None:
    """Add the descriptor of v1 to the default pool: that of v1alpha under its own names."""
    file = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(file)
    file.name = file.name.replace("v1alpha", "v1")
    file.package = V1.rpartition(".")[0]
    for message in file.message_type:
        for field in message.field:
            if field.type_name:
                field.type_name = field.type_name.replace(".v1alpha.", ".v1.")
    for service in file.service:
        for method in service.method:
            method.input_type = method.input_type.replace(".v1alpha.", ".v1.")
            method.output_type = method.output_type.replace(".v1alpha.", ".v1.")
    pool = descriptor_pool.Default()  # type: ignore[no-untyped-call]
    pool.AddSerializedFile(file.SerializeToString())


def _with_json_names(response: Any) -> Any:
    files = response.file_descriptor_response.file_descriptor_proto
    for position, serialized in enumerate(files):
        file = FileDescriptorProto.FromString(serialized)
        _name_fields(file.extension)
        for message in file.message_type:
            _name_message(message)
        files[position] = file.SerializeToString()
    return response


def _name_message(message: DescriptorProto) -> None:
    _name_fields(message.field)
    _name_fields(message.extension)
    for nested in message.nested_type:
        _name_message(nested)


def _name_fields(fields: Iterable[FieldDescriptorProto]) -> None:
    for field in fields:
        if not field.json_name:
            first, *others = field.name.split("_")
            field.json_name = first + "".join(part[:1].upper() + part[1:] for part in others)
