"""``python -m harness`` is the command ``harness``."""

from harness.runner.safe_path import leave_current_folder


def main() -> None:
    """The entry point of both; see :func:`harness.cli.app.main`."""
    leave_current_folder()
    # Not before: what it imports must not come from the current folder.
    from harness.cli.app import main as command
    from harness.runner.signals import Ended, ignore_further

    try:
        command()
    except Ended:
        # Python takes a while to end: a second signal must not change the exit code.
        ignore_further()
        raise


if __name__ == "__main__":
    main()
