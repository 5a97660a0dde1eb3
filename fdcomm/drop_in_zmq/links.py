"""FastDeploy's path of a socket, as a symbolic link to the socket's own place.

FastDeploy's API server connects to ``/dev/shm/router_<name>.ipc`` with sockets of its own. A server of fdcomm is in a
directory that only its user can enter; the link lets processes of that user find it where they look.
"""

from __future__ import annotations

import contextlib
import os
from typing import Final

from fdcomm.errors import AddressInUseError
from fdcomm.forksafety import close_in_child, no_fork
from fdcomm.rendezvous import is_locked

__all__ = ("FOLDER", "Link")

FOLDER: Final = "/dev/shm"


class Link:
    """A link that stands as long as its server is open. One that a killed server has left is replaced."""

    def __init__(self, name: str, target: str, folder: str = FOLDER) -> None:
        """Args:
        name: File name that FastDeploy gives the socket.
        target: Where it is.
        folder: Where the link is made. Nothing happens if there is no such folder.

        Raises:
            AddressInUseError: Something else is there: a socket of FastDeploy's, somebody else's file, or the link of
                a live server of another runtime directory.
        """
        self.path = os.path.join(folder, name)
        self.target = target
        self._made = False
        close_in_child(self)
        if not os.path.isdir(folder):
            return
        with no_fork():
            self._clear()
            os.symlink(target, self.path)
            self._made = True

    def _clear(self) -> None:
        try:
            status = os.lstat(self.path)
            found = os.readlink(self.path) if status.st_uid == os.getuid() else None
        except FileNotFoundError:
            return
        except OSError:  # no link
            found = None
        # Its target's server holds a lock as long as it lives; that of our own target is held by us.
        if found is None or (found != self.target and _locked(found + ".lock")):
            raise AddressInUseError(
                f"{self.path} is in use: FastDeploy's processes would not find this server there; stop what serves it, "
                "or take another name"
            )
        os.unlink(self.path)

    def remove(self) -> None:
        """Remove the link, unless it is another server's by now. Idempotent."""
        if self._made:
            self._made = False
            with contextlib.suppress(OSError):
                if os.readlink(self.path) == self.target:
                    os.unlink(self.path)

    def after_fork_in_child(self) -> None:
        """The link is the parent's."""
        self._made = False


def _locked(path: str) -> bool:
    try:
        return is_locked(path)
    except OSError:
        return False
