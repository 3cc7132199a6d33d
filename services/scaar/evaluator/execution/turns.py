"""How many questions are asked at a time."""

import asyncio


class Turns(asyncio.Semaphore):
    """So many questions at a time, of however many shards; a block is a turn, had in order."""

    def __init__(self, at_once: int) -> None:
        super().__init__(at_once)
        self.at_once = at_once
