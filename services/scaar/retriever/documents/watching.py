"""Refreshing whenever documents change, by polling."""

from collections.abc import Awaitable, Callable, Hashable


class FolderWatcher:
    """Calls ``refresh`` after the ``state`` of files has changed and come to rest.

    ``seen`` is the state before the last refresh began.
    """

    def __init__(
        self,
        state: Callable[[], Awaitable[Hashable]],
        refresh: Callable[[], Awaitable[None]],
        *,
        seen: Hashable,
    ) -> None:
        self._state = state
        self._refresh = refresh
        self._seen = self._previous = seen

    async def poll(self) -> bool:
        """Refresh if the files differ from those of the last refresh, but not from the last poll.

        A file that is being written is thus read once it is complete. Return whether a refresh took
        place. After an error of ``refresh``, the next poll tries again.
        """
        now = await self._state()
        at_rest, self._previous = now == self._previous, now
        if now == self._seen or not at_rest:
            return False
        await self._refresh()
        self._seen = now
        return True
