"""The standard tests of LangChain for integrations, on a running orchestrator."""

from typing import Any

import pytest
from langchain_scaar import ScaarAnswer, ScaarRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

QUESTION = "Who directed the film The Haunted Fountain?"


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _reached(self, target: str) -> None:
        self.target = target

    @property
    def retriever_constructor(self) -> type[ScaarRetriever]:
        return ScaarRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"target": self.target}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


class TestTool(ToolsIntegrationTests):
    @pytest.fixture(autouse=True)
    def _reached(self, target: str) -> None:
        self.target = target

    @property
    def tool_constructor(self) -> type[ScaarAnswer]:
        return ScaarAnswer

    @property
    def tool_constructor_params(self) -> dict[str, Any]:
        return {"target": self.target}

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"question": QUESTION}


class TestToolOffline(ToolsUnitTests):
    @property
    def tool_constructor(self) -> type[ScaarAnswer]:
        return ScaarAnswer

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"question": QUESTION}
