"""The environment of the server's process, which has no secrets of the caller."""

import re
from collections.abc import Mapping

_NAMES = frozenset(
    {"PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
    | {"HOME", "LANG", "TZ", "TMPDIR", "SYSTEMROOT"}
)
_PREFIXES = ("LC_", "GGML_", "CUDA_", "HIP_", "ROCR_", "NVIDIA_")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH", re.I)


def environment_of(caller: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that the process needs: paths, language and the choice of a GPU."""
    return {
        name: value
        for name, value in caller.items()
        if (name in _NAMES or name.startswith(_PREFIXES)) and not _SECRET.search(name)
    }
