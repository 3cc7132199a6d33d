"""all-MiniLM-L6-v2, a sentence encoder of English, as a folder that scaar opens."""

from pathlib import Path

NAME = "all-minilm-l6-v2"


def model_folder() -> Path:
    """Return the folder of the encoder.

    Raises:
        FileNotFoundError: this is a checkout in which the encoder has not been assembled.
    """
    folder = Path(__file__).parent / "models" / NAME
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} does not exist: run make english to assemble it")
    return folder
