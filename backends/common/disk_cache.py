"""What compilers made or said, kept in the user's cache folder, each entry behind its checksum."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from platformdirs import user_cache_path

from harness.files import replacing

_DIGEST_BYTES = hashlib.sha256().digest_size
_log = logging.getLogger(__name__)


class DiskCache:
    """The entries of one kind: in a folder of that name, ``what`` in a warning."""

    def __init__(self, kind: str, what: str, folder: Path | None = None) -> None:
        """``folder``: in place of one in the user's cache folder."""
        self._kind, self._what, self._folder = kind, what, folder

    def read(self, identity: object) -> bytes | None:
        """The entry of what ``identity``'s representation tells apart; None where there is none, or its
        checksum is wrong.
        """
        try:
            entry = self._path(identity).read_bytes()
        except OSError:
            return None
        digest, content = entry[:_DIGEST_BYTES], entry[_DIGEST_BYTES:]
        return content if hashlib.sha256(content).digest() == digest else None

    def write(self, identity: object, content: bytes) -> None:
        """Stores an entry at once or not at all: other processes may read and write the same. A folder that
        cannot be written costs a warning.
        """
        path = self._path(identity)
        try:
            with replacing(path) as whole:
                whole.write_bytes(hashlib.sha256(content).digest() + content)
        except OSError as error:
            _log.warning("%s cannot be written (%s): %s", path, error, self._what)

    def _path(self, identity: object) -> Path:
        folder = self._folder or user_cache_path("opencl-cuda-harness") / self._kind
        return folder / f"{hashlib.sha256(repr(identity).encode()).hexdigest()}.{self._kind}"
