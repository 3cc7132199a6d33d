"""What a server says of itself holds for a while, and is asked again when it is in doubt."""

import pytest

from scaar.core.errors import NotFound
from scaar.generator.engines.tgi_server.client import ServerInfo
from scaar.generator.engines.tgi_server.model import HELD_S, TgiModel


class Server:
    """A server whose model can be changed, and a clock."""

    def __init__(self) -> None:
        self.model_id = "org/lm"
        self.asked = 0
        self.time = 100.0

    async def ask(self) -> ServerInfo:
        self.asked += 1
        return ServerInfo(
            model_id=self.model_id,
            max_input_tokens=10,
            max_total_tokens=20,
            max_concurrent_requests=5,
        )

    def model(self, name: str | None = None) -> TgiModel:
        return TgiModel(self.ask, name=name, server="http://tgi", now=lambda: self.time)


async def test_it_is_asked_once_while_what_it_said_is_young() -> None:
    server = Server()
    model = server.model()
    assert await model.described() == await model.described()
    server.time += HELD_S * 0.99
    await model.described()
    assert server.asked == 1
    server.time += HELD_S * 0.02
    server.model_id = "org/other"
    assert (await model.described()).model_id == "org/other"


async def test_it_is_asked_again_in_doubt() -> None:
    server = Server()
    model = server.model()
    await model.described()
    model.doubt()
    await model.described()
    assert server.asked == 2


async def test_another_model_than_the_one_named_is_refused_each_time() -> None:
    server = Server()
    model = server.model("org/lm")
    await model.described()
    server.model_id = "org/other"
    model.doubt()
    for _ in range(2):
        with pytest.raises(NotFound, match="http://tgi serves org/other, not org/lm"):
            await model.described()
    server.model_id = "org/lm"
    assert (await model.described()).model_id == "org/lm"
