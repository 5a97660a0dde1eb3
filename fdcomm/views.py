"""Live, read-only views of a host's state, under the names of FastDeploy's shared variables.

FastDeploy's variables are proxies that anybody may write. Here the protocol alone writes; a write through a view
raises an error that names the method which does what was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

from fdcomm.errors import ReadOnlyError

if TYPE_CHECKING:
    from fdcomm.handle import Handle

__all__ = ("ListView", "LockView", "QueueView", "SharedValue", "SignalView", "ValueView", "View")

_V = TypeVar("_V", bound="_Named")


class _Named:
    def __init__(self, name: str, read: Callable[[], Any], instead: str) -> None:
        self._name = name
        self._read = read
        self._instead = instead

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ReadOnlyError(
            f"{self._name} can be read, not written: the queue's own methods keep it right; use {self._instead}",
            operation=self._name,
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name}: {self._read()!r}>"


class ListView(_Named, Sequence[Any]):
    """A list of the host, as it is at each access.

    ``view[:]``, ``len(view)``, ``view == other`` and a loop cost one round trip each, ``list(view)`` two: Python asks
    for the length first.
    """

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        return list(self._read())[index]

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self._read()))

    def __eq__(self, other: object) -> bool:
        return list(self._read()) == (list(other) if isinstance(other, ListView) else other)

    def copy(self) -> list[Any]:
        """Return the list as it is now."""
        return list(self._read())

    __hash__ = None  # type: ignore[assignment]
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _Named._refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _Named._refuse


class ValueView(_Named):
    """A number of the host, as ``multiprocessing.managers.Value``: ``get()`` and ``value``."""

    def get(self) -> int:
        """Return the number."""
        return int(self._read())

    set = _Named._refuse

    @property
    def value(self) -> int:
        """The number."""
        return self.get()

    @value.setter
    def value(self, number: int) -> None:
        self._refuse(number)


class SignalView(_Named):
    """A signal of the host, as FastDeploy's ``IPCSignal``: ``value[0]``."""

    @property
    def value(self) -> ListView:
        """The signal's one number, as a list."""
        return ListView(f"{self._name}.value", lambda: [int(self._read())], self._instead)

    @value.setter
    def value(self, numbers: object) -> None:
        self._refuse(numbers)

    clear = _Named._refuse


class LockView(_Named):
    """Stands for a lock that no caller needs: every method of the queue is one atomic action."""

    acquire = release = __enter__ = _Named._refuse

    def __exit__(self, *exc: object) -> None:
        self._refuse()


class QueueView(_Named):
    """A queue of the host: ``empty()`` and ``qsize()``."""

    def qsize(self) -> int:
        """Return the number of items."""
        return int(self._read())

    def empty(self) -> bool:
        """Return True when there is no item."""
        return self.qsize() == 0

    def full(self) -> bool:
        """Return False: it has no bound."""
        return False

    put = get = put_nowait = get_nowait = _Named._refuse


class SharedValue:
    """A number in the host that the callers own: FastDeploy's workers tell each other through it."""

    def __init__(self, handle: Handle, name: str) -> None:
        self._handle = handle
        self._name = name

    def get(self) -> int:
        """Return the number. One round trip."""
        return int(self._handle._act("notes", "get", self._name, name=f"{self._name}.get"))

    def set(self, number: int) -> None:
        """Store the number. One round trip; the last writer wins."""
        self._handle._act("notes", "set", self._name, int(number), name=f"{self._name}.set")

    @property
    def value(self) -> int:
        """The number."""
        return self.get()

    @value.setter
    def value(self, number: int) -> None:
        self.set(number)


class View:
    """Declares a view of a queue class: ``tasks = View(ListView, lambda queue: ..., "put_tasks()")``."""

    def __init__(self, kind: type[_Named], read: Callable[[Any], Any], instead: str) -> None:
        self._kind = kind
        self._read = read
        self._instead = instead

    def __set_name__(self, owner: type[Handle], name: str) -> None:
        self._name = name

    def __get__(self, handle: Handle | None, owner: type[Handle]) -> Any:
        if handle is None:
            return self
        return self._kind(self._name, lambda: self._read(handle), self._instead)

    def __set__(self, handle: Handle, value: object) -> None:
        self._kind(self._name, lambda: None, self._instead)._refuse()

    def __delete__(self, handle: Handle) -> None:
        self._kind(self._name, lambda: None, self._instead)._refuse()
