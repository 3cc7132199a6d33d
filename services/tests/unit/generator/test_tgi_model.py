"""What a server says of itself holds for a while, and is asked again when it is in doubt."""

import pytest

from scaar.core.errors import NotFound
from scaar.generator.engines.tgi_server.client import ServerInfo
from scaar.generator.engines.tgi_server.model import CACHE_S, TgiModel


class Server:
    """A server whose model can be changed, and a clock."""

    def __init__(self) -> None:
        self.model_id = "org/lm"
        self.received = 0
        self.time = 100.0

    async def ask(self) -> ServerInfo:
        self.received += 1
        return ServerInfo(
            model_id=self.model_id,
            max_input_tokens=10,
            max_total_tokens=20,
            max_concurrent_requests=5,
        )

    def model(self, name: str | None = None) -> TgiModel:
        return TgiModel(self.ask, name=name, server="http://tgi", now=lambda: self.time)


async def test_the_description_is_cached() -> None:
    server = Server()
    model = server.model()
    assert await model.current() == await model.current()
    server.time += CACHE_S * 0.99
    await model.current()
    assert server.received == 1
    server.time += CACHE_S * 0.02
    server.model_id = "org/other"
    assert (await model.current()).model_id == "org/other"


async def test_an_invalidated_description_is_requested_again() -> None:
    server = Server()
    model = server.model()
    await model.current()
    model.invalidate()
    await model.current()
    assert server.received == 2


async def test_another_model_than_the_one_named_is_refused_each_time() -> None:
    server = Server()
    model = server.model("org/lm")
    await model.current()
    server.model_id = "org/other"
    model.invalidate()
    for _ in range(2):
        with pytest.raises(NotFound, match="http://tgi serves org/other, not org/lm"):
            await model.current()
    server.model_id = "org/lm"
    assert (await model.current()).model_id == "org/lm"
