"""Question answering that retrieves when the model is unsure of a word that matters."""

import os
from pkgutil import extend_path

__version__ = "0.1.0"

# The lab is a distribution of its own, scaar-lab, which may be installed into another folder.
if not os.path.isdir(os.path.join(os.path.dirname(__file__), "lab")):  # noqa: PTH112, PTH118, PTH120
    __path__ = extend_path(__path__, __name__)
