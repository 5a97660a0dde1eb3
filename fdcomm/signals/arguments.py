"""What a caller may write as the arguments of a signal, and what fdcomm makes of it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, cast

from fdcomm import arguments
from fdcomm.errors import ConfigError, SignalNameError
from fdcomm.signals.files import NEW, default_directory
from fdcomm.signals.layout import MOST_DIMENSIONS, Layout

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ("NAME_BYTES", "folder", "full_name", "layout_of", "mirrored", "view")

NAME_BYTES: Final = 255 - len(NEW)
"""How long the name of a signal may be, its suffix included: what file systems allow, less what a new one has more."""

_DTYPE_BYTES: Final = 8
_MOST_BYTES: Final = 2**62


def full_name(name: object, suffix: object) -> str:
    """Return ``name``, or ``name.suffix``.

    Raises:
        ConfigError: The name is no string, or the suffix is neither a string nor an integer. Anything else would be
            another text in each process, or is an argument in the wrong place.
        SignalNameError: No file can have the name.
    """
    if not isinstance(name, str):
        raise ConfigError(f"the name of a signal is a string, not {name!r}")
    suffix = _suffix(suffix)
    if not name:
        raise SignalNameError("the name of a signal must not be empty")
    full = name if suffix is None else f"{name}.{suffix}"
    problem = ""
    if "/" in full or "\0" in full:
        problem = "must not contain '/' or a null character"
    elif full.startswith("."):
        problem = "must not begin with a dot"
    elif full.endswith(NEW):
        problem = f"must not end with {NEW!r}, which fdcomm gives to a signal that is being made"
    else:
        try:
            length = len(os.fsencode(full))
        except UnicodeEncodeError:
            problem = "contains a character that file names cannot have"
        else:
            if length > NAME_BYTES:
                problem = f"has {length} bytes, its suffix included; the limit is {NAME_BYTES}"
    if problem:
        raise SignalNameError(f"the name of the signal {_short(full)} {problem}")
    return full


def layout_of(array: Any, dtype: Any, shm_size: Any, *, create: bool) -> Layout:
    """Return the layout that these arguments ask for.

    Raises:
        ConfigError: They contradict each other, or ask for what a segment cannot hold.
    """
    if (array is None) != (dtype is None):
        given, missing = ("dtype", "array") if array is None else ("array", "dtype")
        raise ConfigError(f"a signal has both array and dtype, or neither and shm_size; add {missing}, or drop {given}")
    size = 0 if shm_size is None else _size(shm_size)
    if array is None:
        if size == 0 and create:
            raise ConfigError("a new signal needs array and dtype, or shm_size (in bytes)")
        return Layout("", (), size)
    layout = _array_layout(array, dtype)
    if size not in (0, layout.nbytes):
        raise ConfigError(f"shm_size={size}, but the array has {layout.nbytes} bytes; leave shm_size out")
    return layout


def _array_layout(array: Any, dtype: Any) -> Layout:
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray):
        raise ConfigError(f"array must be a numpy array with the first content, not {type(array).__name__}")
    try:
        wanted = numpy.dtype(dtype)
    except TypeError as error:
        raise ConfigError(f"dtype={dtype!r} is no numpy dtype: {error}") from error
    if wanted != array.dtype:
        raise ConfigError(f"dtype is {wanted}, and the array's is {array.dtype}; write array.astype({wanted.name!r})")
    if wanted.hasobject:
        raise ConfigError(f"dtype {wanted} holds references to Python objects, which mean nothing to another process")
    text = str(wanted.str)
    if len(text) > _DTYPE_BYTES or wanted.names is not None:
        raise ConfigError(f"dtype {wanted} cannot be described in a segment; use a plain numeric dtype, or shm_size")
    if array.size == 0 or array.nbytes == 0:
        raise ConfigError(f"the array has the shape {array.shape}, so no elements; a signal needs at least one")
    if array.ndim > MOST_DIMENSIONS:
        raise ConfigError(f"the array has {array.ndim} dimensions; a signal has at most {MOST_DIMENSIONS}")
    return Layout(text, tuple(int(length) for length in array.shape), int(array.nbytes))


def view(memory: Any, layout: Layout, dtype: numpy.dtype[Any]) -> NDArray[Any]:
    """Return the array in a segment. It holds the memory: no order of closing and collecting takes it away."""
    found: NDArray[Any] = sys.modules["numpy"].ndarray(layout.shape, dtype, buffer=memory)
    return found


def _size(shm_size: Any) -> int:
    size = arguments.whole(shm_size)
    if type(size) is not int or not 1 <= size <= _MOST_BYTES:
        raise ConfigError(f"shm_size={shm_size!r} is not a number of bytes, at least 1 and at most 2**62")
    return size


def folder(directory: object) -> str:
    """Return the directory that these arguments mean: a text or a path.

    Raises:
        ConfigError: It is neither.
    """
    if directory is None:
        return default_directory()
    try:
        found = os.fspath(cast("Any", directory))
    except TypeError:
        found = None
    if not isinstance(found, str) or not found or "\0" in found:
        raise ConfigError(f"directory={directory!r} is not the path of a directory")
    return found


def mirrored(
    component: object, name: object, suffix: object, directory: object, operation: str
) -> tuple[str, str, int | str | None, str | None]:
    """Return the component and the signal that is to show its words, as the host takes them.

    Raises:
        ConfigError: As :func:`full_name` and :func:`folder`, or ``component`` is no string.
        SignalNameError: No file can have the name.
    """
    own = arguments.text(component, "component", operation)
    full_name(name, suffix)
    return own, cast("str", name), _suffix(suffix), None if directory is None else folder(directory)


def _suffix(suffix: object) -> int | str | None:
    found = suffix if suffix is None or isinstance(suffix, str) else arguments.whole(suffix)
    if found is None or isinstance(found, str) or type(found) is int:
        return found
    raise ConfigError(f"suffix={suffix!r} is neither a string nor an integer")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
