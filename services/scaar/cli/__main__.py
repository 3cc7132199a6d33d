"""The entry point of the command ``scaar``, and of ``python -m scaar.cli``."""

import sys


def main() -> None:
    """Run the command line, or print what to install when its packages are missing."""
    try:
        from scaar.cli.main import main as run
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "scaar":
            raise
        print(f"scaar: the command line needs {error.name}: install scaar[cli]", file=sys.stderr)
        sys.exit(1)
    run()


if __name__ == "__main__":
    main()
