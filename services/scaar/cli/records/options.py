"""Options of ``scaar records``: where the records are, and which of them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from scaar.compose import open_records
from scaar.core.ports import Records
from scaar.core.records import Verdict

_Value = TypeVar("_Value")

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the record.")]
Tenant = Annotated[str, typer.Option(metavar="NAME", help="Only records of this tenant.")]
RequestId = Annotated[str, typer.Option(metavar="ID", help="Only records of this request id.")]
Policy = Annotated[str, typer.Option(metavar="NAME", help="Only records of this policy.")]
Index = Annotated[str, typer.Option(metavar="NAME", help="Only records of this index.")]
Since = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="Only answers from this time on, RFC 3339, such as 2026-03-01T00:00:00Z.",
    ),
]
Until = Annotated[str, typer.Option(metavar="TIME", help="Only answers before this time.")]
Text = Annotated[
    str,
    typer.Option(metavar="TEXT", help="Only records whose question or answer contains the text."),
]
WithVerdict = Annotated[
    Verdict | None, typer.Option("--verdict", help="Only answers with this verdict.")
]
Tasks = Annotated[
    bool,
    typer.Option("--tasks", help="Tasks of applications, such as titles, instead of questions."),
]
Degraded = Annotated[
    bool | None,
    typer.Option("--degraded/--not-degraded", help="Only answers with a degraded sentence."),
]
Failed = Annotated[
    bool | None, typer.Option("--failed/--finished", help="Only answers that failed.")
]
Retrieved = Annotated[
    bool | None, typer.Option("--retrieved/--not-retrieved", help="Only answers that retrieved.")
]


def call_records(address: str, call: Callable[[Records], Awaitable[_Value]]) -> _Value:
    """Return the result of a call of the records at an address."""

    async def called() -> _Value:
        async with open_records(address) as records:
            return await call(records)

    return asyncio.run(called())
