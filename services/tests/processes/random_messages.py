"""Messages gone wrong: seeds of the contract, mutated by fields and by bytes.

Every message comes from a seed number of its own, so that it can be made again.
"""

import math
from collections.abc import Callable, Sequence
from random import Random

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

TEXTS = (
    "",
    " ",
    "\n\t\r",
    "\x00",
    "a\x00b",
    "\x1b[31mred",
    "\x7f\x85",
    "\u202eright to left אבג العربية",
    "\u200b\u200d\ufeff",
    "\ufffd\uffff\U0010ffff",
    "e\u0301" * 300,
    "👩\u200d👩\u200d👧🏽" * 50,
    "ﬁ ß İ ı ſ Ǆ",
    "日本語のテキスト",
    "x" * 9_000,
    "a " * 600,
    "." * 300,
    "'\u2019_" * 100,
    "../../etc/passwd",
    "lab",
    "%s %n {0} {} $(x) `x`",
    "So the answer is",
    "[2] [1] Question: Answer:",
    "-1e999",
)
LONG_TEXT = "a long text. " * 100_000
"""Beyond every limit; rare, since it takes its time to send."""

INTEGERS = (0, 1, -1, 2, 3, 100, 101, 1_000_000, 2**31 - 1, -(2**31))
NUMBERS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 50.0, 100.0, 100.0000001),
    *(1e-300, 5e-324, 1e300, -1e300, math.nan, math.inf, -math.inf),
)
ENUMS = (0, 1, 2, 3, 7, 99, -1, 2**31 - 1, -(2**31))
REPEATS = (2, 3, 10, 40, 300)
HALF_PAIR = "\ud800".encode(errors="surrogatepass")
_DEEPER_THAN_MAY_BE = 200
_REPEATED_BYTES = 200_000


def mutated(seed: Message, random: Random) -> bytes:
    """The seed with a few things wrong with it, or with nothing wrong at all."""
    message = type(seed)()
    message.CopyFrom(seed)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        _change_field(message, random)
    data = message.SerializeToString()
    if random.random() < 0.4:
        data = random.choice(_BYTES)(data, random)
    return data


def _change_field(message: Message, random: Random) -> None:
    """Something is done to a field, somewhere down in the message."""
    fields = message.DESCRIPTOR.fields
    if not fields:
        return
    field = random.choice(fields)
    match field:
        case FieldDescriptor(is_repeated=True):
            _change_list(message, field, random)
        case FieldDescriptor(type=FieldDescriptor.TYPE_MESSAGE):
            chance = random.random()
            if chance < 0.15:
                message.ClearField(field.name)
            elif chance < 0.3:
                getattr(message, field.name).SetInParent()
            else:
                _change_field(getattr(message, field.name), random)
        case _ if random.random() < 0.2:
            message.ClearField(field.name)
        case _:
            setattr(message, field.name, _extreme(field, getattr(message, field.name), random))


def _change_list(message: Message, field: FieldDescriptor, random: Random) -> None:
    values = getattr(message, field.name)
    kind = random.random()
    if kind < 0.2 or (not values and kind < 0.4):
        message.ClearField(field.name)
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        if not values:
            values.add()
        if kind < 0.5:
            one = random.choice(values)
            values.extend([one] * _times(one.ByteSize(), random))
        else:
            _change_field(random.choice(values), random)
    elif not values or kind < 0.6:
        one = _extreme(field, "" if field.type == FieldDescriptor.TYPE_STRING else 0, random)
        values.extend([one] * (_times(len(str(one)), random) if kind < 0.5 else 1))
    else:
        place = random.randrange(len(values))
        values[place] = _extreme(field, values[place], random)


def _times(size: int, random: Random) -> int:
    """How often to repeat what takes that many bytes."""
    return min(random.choice(REPEATS), _REPEATED_BYTES // (size + 1) + 1)


def _extreme(field: FieldDescriptor, value: object, random: Random) -> object:
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            return _odd_text(str(value), random)
        case FieldDescriptor.TYPE_BOOL:
            return not value
        case FieldDescriptor.TYPE_DOUBLE:
            return random.choice(NUMBERS)
        case FieldDescriptor.TYPE_ENUM:
            return random.choice(ENUMS)
        case FieldDescriptor.TYPE_INT32 | FieldDescriptor.TYPE_INT64:
            return random.choice(INTEGERS)
        case other:
            raise AssertionError(f"no extreme values for the type {other} of {field.full_name}")


def _odd_text(text: str, random: Random) -> str:
    if random.random() < 0.005:
        return LONG_TEXT
    odd = random.choice(TEXTS)
    if random.random() < 0.5:
        return odd
    place = random.randrange(len(text) + 1)
    return text[:place] + odd + text[place:]


def _truncated(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _flipped(data: bytes, random: Random) -> bytes:
    flipped = bytearray(data)
    for _ in range(random.randint(1, 8) if data else 0):
        flipped[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(flipped)


def _random(_: bytes, random: Random) -> bytes:
    return random.randbytes(random.choice((1, 2, 5, 20, 200, 5_000)))


def _spliced(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(random.randint(1, 9)) + data[place:]


def _twice(data: bytes, _: Random) -> bytes:
    """Lists are joined, and the last one of the other fields counts."""
    return data + data


def _with_unknown(data: bytes, random: Random) -> bytes:
    """A field that the contract does not have, or one of its own as another type."""
    number = random.choice((1, 2, 3, 15, 99, 20_000, 2**29 - 1))
    payload = random.choice(
        (
            _tag(number, 0) + _varint(2**64 - 1),
            _tag(number, 1) + random.randbytes(8),
            _tag(number, 2) + _varint(30) + random.randbytes(30),
            _tag(number, 5) + random.randbytes(4),
            _tag(number, 2) + _varint(len(HALF_PAIR)) + HALF_PAIR,
            _tag(number, 2) + _varint(2**31) + b"short",
        )
    )
    return data + payload


def _nested(data: bytes, random: Random) -> bytes:
    """Groups in groups, or messages in messages, deeper than a decoder goes."""
    depth = random.choice((3, _DEEPER_THAN_MAY_BE))
    if random.random() < 0.5:
        return data + _tag(99, 3) * depth + _tag(99, 4) * depth
    inner, number = b"", random.choice((1, 2, 3))
    for _ in range(depth):
        inner = _tag(number, 2) + _varint(len(inner)) + inner
    return data + inner


_BYTES: Sequence[Callable[[bytes, Random], bytes]] = (
    *(_truncated, _flipped, _random, _spliced),
    *(_twice, _with_unknown, _nested),
)


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
