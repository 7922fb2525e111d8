"""``python -m harness`` is the command ``harness``."""

from harness.runner.safe_path import leave_current_folder


def main() -> None:
    """The entry point of both; see :func:`harness.cli.app.main`."""
    leave_current_folder()
    # Not before: what it imports must not come from the current folder.
    from harness.cli.app import main as command

    command()


if __name__ == "__main__":
    main()
