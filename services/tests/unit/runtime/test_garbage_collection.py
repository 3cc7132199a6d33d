"""Garbage collections of a service."""

import subprocess
import sys

_SCRIPT = """
import gc
from scaar.runtime.garbage_collection import exclude_present_objects

class Node:
    pass

before = len(gc.get_objects())
exclude_present_objects()
assert gc.get_freeze_count() > before / 2, "the objects of the start are looked at"
assert gc.get_threshold()[0] == 10_000
node = Node()
node.itself = node
del node
assert gc.collect() > 0, "later garbage is not collected"
"""


def test_objects_of_the_start_are_left_out_and_later_garbage_is_collected() -> None:
    ended = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


_FREED = """
from pathlib import Path
from scaar.runtime.garbage_collection import return_free_memory

def resident_pages():
    return int(Path("/proc/self/statm").read_text().split()[1])

blocks = [bytes(2_000) for _ in range(20_000)]
last = bytes(2_000)
del blocks
before = resident_pages()
return_free_memory()
assert resident_pages() < before - 5_000, "free memory is kept"
"""


def test_free_memory_is_returned_to_the_system() -> None:
    ended = subprocess.run([sys.executable, "-c", _FREED], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
