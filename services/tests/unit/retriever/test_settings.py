from pathlib import Path

import pytest

from scaar.core.errors import InvalidRequest
from scaar.retriever.factory import open_retriever
from scaar.retriever.settings import RetrieverSettings


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_INDEXES", "/data/indexes")
    monkeypatch.setenv("SCAAR_RETRIEVER_K1", "1.2")
    monkeypatch.setenv("SCAAR_RETRIEVER_PRELOAD", '["lab"]')
    settings = RetrieverSettings.read()
    assert (settings.indexes, settings.k1, settings.b) == (Path("/data/indexes"), 1.2, 0.4)
    assert settings.preload == ("lab",)


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCAAR_RETRIEVER_B", "1.5")
    with pytest.raises(InvalidRequest, match="SCAAR_RETRIEVER_B: "):
        RetrieverSettings.read()


async def test_a_retriever_needs_a_folder() -> None:
    with pytest.raises(
        InvalidRequest, match="SCAAR_RETRIEVER_INDEXES: must be the path of a folder"
    ):
        async with open_retriever(RetrieverSettings()):
            pass
