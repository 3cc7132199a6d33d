"""Markdown of the contract: a section for each file, a table for each message."""

from collections.abc import Sequence

from reference.markdown import plain, table
from reference.protos import Block, Line, ProtoFile

# Files of the services that products call come first, the others by name.
_FIRST = ("orchestrator", "answer", "policy")
_SCALARS = frozenset(
    {"bool", "bytes", "double", "float", "int32", "int64", "string", "uint32", "uint64"}
)


def contract(files: Sequence[ProtoFile]) -> str:
    """Return Markdown for every service, call, message, field and enum, with links to types."""
    ordered = sorted(files, key=_place)
    return "\n\n".join([_overview(ordered), *(_section(file) for file in ordered)])


def _place(file: ProtoFile) -> tuple[int, str]:
    stem = _stem(file)
    return (_FIRST.index(stem) if stem in _FIRST else len(_FIRST), stem)


def _stem(file: ProtoFile) -> str:
    return file.path.rpartition("/")[2].removesuffix(".proto")


def _overview(files: Sequence[ProtoFile]) -> str:
    rows = [
        [_link(block.name), ", ".join(f"`{call.name}`" for call in block.calls), _first(block)]
        for file in files
        for block in file.blocks
        if block.kind == "service"
    ]
    return table(["service", "calls", "description"], rows)


def _first(block: Block) -> str:
    """Return the first sentence of the comment, without the leading name of the block."""
    sentence = block.comment.partition("\n\n")[0].partition(". ")[0].rstrip(".")
    return plain(sentence.removeprefix(block.name).strip())


def _section(file: ProtoFile) -> str:
    return "\n\n".join([f"## {_stem(file)}.proto", *(_block(block) for block in file.blocks)])


def _block(block: Block) -> str:
    comment = "\n\n".join(plain(each) for each in block.comment.split("\n\n"))
    limits = [block.limits] if block.limits else []
    return "\n\n".join([f"### {block.name}", comment, *limits, _content(block)])


def _content(block: Block) -> str:
    if block.calls:
        rows = [
            [f"`{call.name}`", _link(call.request), _link(call.response), plain(call.comment)]
            for call in block.calls
        ]
        return table(["call", "request", "response", "description"], rows)
    if block.kind == "enum":
        rows = [[f"`{line.name}`", str(line.number), plain(line.comment)] for line in block.lines]
        return table(["value", "number", "description"], rows)
    if not block.lines:
        return "No fields."
    rows = [_field(line) for line in block.lines]
    return table(["field", "number", "type", "label", "description"], rows)


def _field(line: Line) -> list[str]:
    number, kind = str(line.number), _link(line.type)
    comment = " ".join(filter(None, (plain(line.comment), line.limits)))
    return [f"`{line.name}`", number, kind, line.label, comment]


def _link(kind: str) -> str:
    stream, _, name = kind.rpartition(" ")
    linked = name if name in _SCALARS else f"[{name}](#{name.lower()})"
    return f"{stream} {linked}".strip()
