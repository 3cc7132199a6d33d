"""A server that replaces the Hugging Face hub, with one file, and fails as tests set it."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c" * 40


@dataclass
class HubServer:
    """Serves ``REPOSITORY/resolve/REVISION/FILE`` to ``huggingface_hub``."""

    content: bytes
    repository: str = "maker/model"
    file: str = "tiny.gguf"
    sent: bytes | None = None
    """Sent instead of the content, whose digest is stated; None: the content."""
    break_after: int | None = None
    """The connection of a download is closed after this many bytes; None: it is not."""
    gated: bool = False
    paused: threading.Event = field(default_factory=threading.Event)
    """A download waits for it after its first half."""
    half_sent: threading.Event = field(default_factory=threading.Event)
    ranges: list[str | None] = field(default_factory=list)
    """The ranges of the downloads."""
    tokens: list[str | None] = field(default_factory=list)
    """The tokens of the downloads, and of the requests for the file's size and digest."""
    url: str = ""

    def __post_init__(self) -> None:
        self.paused.set()

    @property
    def source(self) -> str:
        """The file as ``scaar models get`` takes it."""
        return f"hf:{self.repository}/{self.file}"


@contextmanager
def serving(hub: HubServer) -> Iterator[HubServer]:
    """Serve on a port of its own for the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        hub.paused.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(hub: HubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._state()

        def do_GET(self) -> None:
            start = self._state()
            if start is None:
                return
            hub.ranges.append(self.headers["Range"])
            content = (hub.content if hub.sent is None else hub.sent)[start:]
            if hub.break_after is not None:
                self.wfile.write(content[: hub.break_after])
                self.close_connection = True
                return
            half = len(content) // 2
            self.wfile.write(content[:half])
            self.wfile.flush()
            hub.half_sent.set()
            hub.paused.wait()
            self.wfile.write(content[half:])

        def _state(self) -> int | None:
            """Send the headers, and return where the content starts; None for an error."""
            found = re.fullmatch(rf"/{hub.repository}/resolve/[^/]+/(.+)", self.path)
            if found is None or hub.gated or found[1] != hub.file:
                file_error = "GatedRepo" if hub.gated else "EntryNotFound"
                self._fail(403 if hub.gated else 404, file_error if found else "RepoNotFound")
                return None
            hub.tokens.append(self.headers["Authorization"])
            asked = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
            start = int(asked[1]) if asked else 0
            self.send_response(206 if asked else 200)
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{hashlib.sha256(hub.content).hexdigest()}"')
            self.send_header("Content-Length", str(len(hub.content) - start))
            self.end_headers()
            return start

        def _fail(self, status: int, code: str) -> None:
            self.send_response(status)
            self.send_header("X-Error-Code", code)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler
