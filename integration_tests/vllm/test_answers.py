"""vLLM answers as the embedded engine does, under every policy that it can serve."""

from pathlib import Path

import pytest

from reference.servers import as_documented, documented_capabilities
from scaar.testing.server_probe import probed

from ..servers.lab_answers import POLICIES, different_answers
from ..servers.vllm.vllm_server import VllmServer
from .conftest import settings_for


@pytest.mark.parametrize(
    ("policy", "openai_api"),
    [*((policy, "completions") for policy in POLICIES), ("scaar", "chat"), ("flare", "chat")],
)
def test_ten_questions_are_answered_as_by_the_embedded_engine(
    vllm: VllmServer, lab_home: Path, policy: str, openai_api: str
) -> None:
    generator = {"url": vllm.url, "openai_api": openai_api}
    assert not different_answers(lab_home, policy=policy, generator=generator, count=10)


@pytest.mark.parametrize("openai_api", ["completions", "chat"])
async def test_the_capabilities_are_those_of_the_documentation(
    vllm: VllmServer, openai_api: str
) -> None:
    found = await probed(settings_for(vllm, openai_api=openai_api))
    assert documented_capabilities(f"vLLM, {openai_api}") == as_documented(found)
