"""The words that old readers look at: the host writes them into signals that the engine has made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, Generic, TypeVar

from fdcomm.errors import ConfigError, FdcommError

__all__ = ("Mirrors",)

K = TypeVar("K", bound=Hashable)

_DTYPE: Final = "<i4"
_ATTACH_S: Final = 5.0


class Mirror:
    """One attached signal: a word for each part, or one for all of them. From then on the host is its only writer.

    Attributes:
        problem: Why it shows the words no more; "" while it does.
    """

    def __init__(self, parts: int, name: str, suffix: int | str | None, directory: str | None) -> None:
        # Here, not above: few hosts mirror anything, and the others start without the signals.
        from fdcomm.signals.ipc_signal import IPCSignal
        from fdcomm.signals.word import Word

        self._signal = IPCSignal(
            name, suffix=suffix, create=False, validate=False, timeout=_ATTACH_S, directory=directory
        )
        self.problem = ""
        self._words = []
        segment = self._signal.segment
        try:
            self._words.append(Word(segment, 0, dtype=_DTYPE))
            if parts > 1 and self._has(segment, 1):
                self._words += [Word(segment, rank, dtype=_DTYPE) for rank in range(1, parts)]
        except BaseException:
            self._signal.close()
            raise

    @staticmethod
    def _has(segment: Any, index: int) -> bool:
        from fdcomm.signals.word import Word

        try:
            Word(segment, index, dtype=_DTYPE)
        except ConfigError:
            return False
        return True

    def show(self, values: Sequence[int]) -> None:
        """Write a value for each part, or, where there is one word for several, whether none is 0.

        A signal that cannot be written, or has no name any more, is noted and nothing else.
        """
        if len(self._words) != len(values):
            values = [all(values)]
        try:
            for word, value in zip(self._words, values, strict=True):
                word.set(int(value))
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


class Mirrors(Generic[K]):
    """The mirrors of one channel, each under a key. Called inside the critical section, but for :meth:`attach`."""

    def __init__(self, protocol: str) -> None:
        self._protocol = protocol
        self._of: dict[K, Mirror] = {}

    def attach(self, component: str, parts: int, name: object, suffix: object, directory: object) -> Mirror:
        """Attach to a signal; outside the critical section, because another process may be changing its name.

        Raises:
            SignalError: It is not there, or is no array of int32 of one element or of one for each part.
        """
        operation = f"{self._protocol}.mirror"
        if not isinstance(name, str) or not isinstance(suffix, (int, str, type(None))):
            raise ConfigError(f"{operation}: {name!r} with suffix {suffix!r} is no name of a signal of {component}")
        if not isinstance(directory, (str, type(None))):
            raise ConfigError(f"{operation}: directory={directory!r} must be a path")
        return Mirror(parts, name, suffix, directory)

    def set(self, key: K, mirror: Mirror, values: Sequence[int]) -> None:
        """Take a mirror in use; one that there was under this key is let go."""
        old = self._of.get(key)
        self._of[key] = mirror
        if old is not None:
            old.close()
        mirror.show(values)

    def show(self, values_of: Callable[[K], Sequence[int]]) -> None:
        """Write the words."""
        for key, mirror in self._of.items():
            mirror.show(values_of(key))

    def view(self) -> list[tuple[K, dict[str, Any]]]:
        """Return plain values for statistics, with the key of each."""
        return [(key, mirror.view()) for key, mirror in self._of.items()]

    def close(self) -> None:
        """Let go of all. The signals keep what they show."""
        while self._of:
            self._of.popitem()[1].close()
