"""``python -m scaar.cli`` is ``scaar``."""

from scaar.cli.main import main

main()
