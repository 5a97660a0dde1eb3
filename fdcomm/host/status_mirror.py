"""The words of components that old readers look at: the host writes each into a signal that the engine has made."""

from __future__ import annotations

from typing import Any, Final

from fdcomm.errors import ConfigError, FdcommError

__all__ = ("Mirrors",)

_DTYPE: Final = "<i4"
_ATTACH_S: Final = 5.0


class Mirror:
    """One attached signal. From then on the host is its only writer.

    Attributes:
        problem: Why it shows the word no more; "" while it does.
    """

    def __init__(self, name: str, suffix: int | str | None, directory: str | None) -> None:
        # Here, not above: few hosts mirror anything, and the others start without the signals.
        from fdcomm.signals.ipc_signal import IPCSignal
        from fdcomm.signals.word import Word

        self._signal = IPCSignal(
            name, suffix=suffix, create=False, validate=False, timeout=_ATTACH_S, directory=directory
        )
        self.problem = ""
        try:
            self._word = Word(self._signal.segment, 0, dtype=_DTYPE)
        except BaseException:
            self._signal.close()
            raise

    def show(self, word: int) -> None:
        """Write the word. A signal that cannot be written, or has no name any more, is noted and nothing else."""
        try:
            self._word.set(word)
            gone = self._signal.superseded
        except (FdcommError, OSError) as error:
            self.problem = str(error)
            return
        self.problem = "the signal was replaced or removed; mirror it again" if gone else ""

    def view(self) -> dict[str, Any]:
        """Return plain values for statistics."""
        return {"name": self._signal.name, "problem": self.problem}

    def close(self) -> None:
        """Let go of the signal."""
        self._signal.close()


class Mirrors:
    """The mirrors of one channel: component -> signal. Called inside the critical section, but for :meth:`attach`."""

    def __init__(self) -> None:
        self._of: dict[str, Mirror] = {}

    @staticmethod
    def attach(component: str, name: object, suffix: object, directory: object) -> Mirror:
        """Attach to a signal; outside the critical section, because another process may be changing its name.

        Raises:
            SignalError: It is not there, or is no array of int32.
        """
        if not isinstance(name, str) or not isinstance(suffix, (int, str, type(None))):
            raise ConfigError(f"status.mirror: {name!r} with suffix {suffix!r} is no name of a signal of {component}")
        if not isinstance(directory, (str, type(None))):
            raise ConfigError(f"status.mirror: directory={directory!r} must be a path")
        return Mirror(name, suffix, directory)

    def set(self, component: str, mirror: Mirror, word: int) -> None:
        """Take a mirror in use; one that there was for the component is let go."""
        old = self._of.get(component)
        self._of[component] = mirror
        if old is not None:
            old.close()
        mirror.show(word)

    def show(self, words: dict[str, int]) -> None:
        """Write the words."""
        for component, mirror in self._of.items():
            mirror.show(words[component])

    def view(self) -> dict[str, dict[str, Any]]:
        """Return plain values for statistics."""
        return {component: mirror.view() for component, mirror in self._of.items()}

    def close(self) -> None:
        """Let go of all. The signals keep what they show."""
        while self._of:
            self._of.popitem()[1].close()
