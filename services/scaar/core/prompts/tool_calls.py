"""Search requests as calls of a tool in JSON, in the format of Hermes and Qwen.

A call is ``{"name": "search", "arguments": {"query": "..."}}``. Models that were trained on the
format of OpenAI's API may write the arguments as a string that contains JSON; that is valid too.
"""

import json
import re
from dataclasses import dataclass

from scaar.core.prompts.untrusted import cut, one_line

NAME = "search"
EXPECTED = '{"name": "search", "arguments": {"query": "keywords"}}'
TOOL = (
    '{{"type": "function", "function": {{"name": "search", "description": "Search passages by '
    'keywords.", "parameters": {{"type": "object", "properties": '
    '{{"query": {{"type": "string"}}}}, "required": ["query"]}}}}}}}}'
)
"""Description of the tool, for a prompt that is formatted."""
_SHOWN = 60
"""Maximum number of characters of a name in a note."""
_VALUE = re.compile(r'\\?"query\\?"\s*:\s*\\?"(?P<value>.*?)\\?"\s*\}', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its query, and where the text that it was read from has it.

    ``fault`` says what is wrong with a request without a query, in words for the model.
    """

    query: str
    span: tuple[int, int]
    fault: str = ""


def read_call(text: str) -> Request:
    """Return the request in the text between the tags of a call."""
    try:
        call = json.loads(text)
        arguments = call.get("arguments") if isinstance(call, dict) else None
        if isinstance(arguments, str):
            arguments = json.loads(arguments)
    # Deeply nested lists exceed the depth of the parser.
    except (ValueError, RecursionError):
        return _malformed(text, "the call is not valid JSON")
    if not isinstance(call, dict):
        return _malformed(text, "the call is not a JSON object")
    name = call.get("name")
    if name != NAME:
        shown = cut(one_line(str(name)), _SHOWN)
        return _malformed(text, f'there is no tool "{shown}", only "{NAME}"')
    query = arguments.get("query") if isinstance(arguments, dict) else None
    if not isinstance(query, str):
        return _malformed(text, 'the arguments have no "query" that is a string')
    found = _VALUE.search(text)
    return Request(query, found.span("value") if found else (0, len(text)))


def _malformed(text: str, what: str) -> Request:
    fault = f"Not searched, because {what}. A call is: {EXPECTED}"
    return Request(text, (0, len(text)), fault)
