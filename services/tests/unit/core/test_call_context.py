import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scaar.core.calls.context import (
    CallContext,
    current_call,
    in_call,
    name_request,
    trace_id_of,
)

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ids = st.text("0123456789abcdef", min_size=32, max_size=32).filter(lambda each: each.strip("0"))


@given(ids)
def test_the_trace_is_that_of_the_traceparent(trace: str) -> None:
    assert trace_id_of(f"00-{trace}-{SPAN}-01") == trace
    assert CallContext(traceparent=f"00-{trace}-{SPAN}-00").trace_id == trace


@pytest.mark.parametrize(
    "traceparent",
    [
        "",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01\n",
    ],
)
def test_an_invalid_traceparent_is_ignored(traceparent: str) -> None:
    assert trace_id_of(traceparent) == ""


async def test_tasks_started_in_a_call_belong_to_the_call() -> None:
    async def named() -> str:
        call = current_call()
        return call.request_id if call else ""

    with in_call(CallContext()):
        name_request("r-1")
        assert await asyncio.create_task(named()) == "r-1"
    assert current_call() is None
    name_request("r-2")
    assert await named() == ""
