"""``python -m harness`` is the command ``harness``."""

from harness.runner.safe_path import leave_current_folder


def main() -> None:
    """The entry point of both; see :func:`harness.cli.app.main`."""
    leave_current_folder()
    # Not before: what is imported must not come from the current folder.
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Until the command heeds it: Python's handler would print where in the imports it came.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from harness.cli.app import main as command

    command()


if __name__ == "__main__":
    main()
