"""What the waits of a meeting say when they do not pass, and the labels that they say it with."""

from __future__ import annotations

import hashlib
import zlib

from fdcomm.errors import (
    BarrierBrokenError,
    BarrierMismatchError,
    CommTimeoutError,
    ConfigError,
    FdcommError,
    PeerLostError,
)
from fdcomm.meeting.hall import Room
from fdcomm.meeting.layout import ARRIVAL, LABEL_BYTES, LIVES, LOST, PID, round_of

__all__ = (
    "ended",
    "lost",
    "missing",
    "not_open",
    "over",
    "shortened",
    "store_label",
    "timed_out",
    "to_come",
    "worn_out",
)


def store_label(room: Room, line: int, label: str) -> int:
    """Write the label of a line, which does not wait; return a number that differs for most other labels."""
    if not isinstance(label, str):
        raise ConfigError(f"wait: label={label!r} must be a string", operation="wait")
    text = label.encode()
    if len(text) > LABEL_BYTES:
        raise ConfigError(f"wait: label={label!r} is longer than {LABEL_BYTES} bytes", operation="wait")
    at = room.shape.label(line)
    room.labels[at : at + 1 + len(text)] = bytes((len(text),)) + text
    return 1 + zlib.crc32(text) if text else 0


def _line(room: Room, rank: int) -> int:
    return room.shape.line(rank, room.words[LIVES + rank])


def missing(room: Room, turn: int) -> tuple[int, ...]:
    """The ranks that have not arrived in a turn."""
    ranks = range(room.shape.ranks)
    return tuple(rank for rank in ranks if room.words[room.shape.of_line(_line(room, rank), ARRIVAL)] != turn)


def lost(room: Room) -> tuple[int, ...]:
    """The ranks whose process was given up."""
    return tuple(rank for rank in range(room.shape.ranks) if room.words[LIVES + rank] & 1)


def not_open(room: Room, turn: int, operation: str) -> FdcommError:
    """Nobody may begin to wait."""
    return _lost(room, turn, operation) if turn & LOST else _broken(turn, operation)


def over(number: int, turn: int, operation: str) -> BarrierMismatchError:
    """A wait for a round that was passed before."""
    return BarrierMismatchError(
        f"{operation}: round {number} is over, all ranks have passed it; the meeting is in round {round_of(turn)}",
        operation=operation,
        epoch=round_of(turn),
    )


def to_come(room: Room, rank: int, number: int, turn: int, operation: str) -> BarrierMismatchError:
    """A wait for a round that the others cannot have reached."""
    arrived = tuple(other for other in range(room.shape.ranks) if other not in missing(room, turn))
    others = f", {_ranks(arrived, 'waits', 'wait')} in it" if arrived else ""
    return BarrierMismatchError(
        f"{operation}: rank {rank} waits for round {number}, and the meeting is in round {round_of(turn)}{others}; "
        "none of them can go on",
        operation=operation,
        missing=tuple(sorted({*arrived, rank})),
        epoch=round_of(turn),
    )


def ended(room: Room, kind: str, turn: int, operation: str) -> FdcommError:
    """A wait that ended without a pass."""
    if kind == "lost":
        return _lost(room, turn, operation)
    if kind == "mismatch":
        arrived = [rank for rank in range(room.shape.ranks) if rank not in missing(room, turn)]
        where = ", ".join(f"rank {rank} with label {room.label(_line(room, rank))!r}" for rank in arrived)
        labels = {room.label(_line(room, rank)) for rank in arrived}
        other = "" if len(labels) > 1 else ", and another rank waits for a round that is to come"
        return BarrierMismatchError(
            f"{operation}: the ranks are not in the same round: {where}{other} (the meeting is in round "
            f"{round_of(turn)}); "
            "none of them can go on",
            operation=operation,
            missing=tuple(arrived),
            epoch=round_of(turn),
        )
    if kind == "broken":
        return _broken(turn, operation)
    return BarrierBrokenError(
        f"{operation}: the wait in round {round_of(turn)} ended so long ago that its reason is no longer known",
        operation=operation,
        epoch=round_of(turn),
    )


def shortened(label: str) -> str:
    """Return a label that a meeting can hold: itself, or its beginning and a digest of all."""
    try:
        text = label.encode()
    except UnicodeEncodeError:
        text = label.encode("utf-8", "surrogatepass")
    else:
        if len(text) <= LABEL_BYTES:
            return label
    digest = hashlib.sha256(text).hexdigest()
    return text[: LABEL_BYTES - len(digest)].decode(errors="ignore") + digest


def timed_out(room: Room, rank: int, turn: int, operation: str, waited_s: float) -> CommTimeoutError:
    """Not everybody arrived in time, and the rank's arrival was taken back."""
    absent = tuple(other for other in missing(room, turn) if other != rank)
    away = tuple(rank for rank in absent if not room.words[room.shape.of_line(_line(room, rank), PID)])
    hint = f" ({_ranks(away, 'has', 'have')} no process that waits here)" if away else ""
    return CommTimeoutError(
        f"{operation}: {_ranks(absent, 'has', 'have')} not arrived in round {round_of(turn)} after {waited_s:.3f} s"
        f"{hint}; this rank's arrival was taken back",
        operation=operation,
        missing=absent,
        epoch=round_of(turn),
        waited_s=waited_s,
    )


def worn_out(round_: int) -> FdcommError:
    """A turn cannot count further."""
    return BarrierBrokenError(f"too many waits have ended in round {round_}; make a new meeting", epoch=round_)


def _lost(room: Room, turn: int, operation: str) -> PeerLostError:
    ranks = lost(room)
    who = f"{_ranks(ranks, 'is', 'are')} gone" if ranks else "a rank was gone"
    return PeerLostError(
        f"{operation}: {who}, so round {round_of(turn)} could not complete; restart what is gone, then wait again",
        operation=operation,
        missing=ranks,
        epoch=round_of(turn),
    )


def _broken(turn: int, operation: str) -> BarrierBrokenError:
    return BarrierBrokenError(
        f"{operation}: the meeting was aborted in round {round_of(turn)}; reset() makes it usable again",
        operation=operation,
        epoch=round_of(turn),
    )


def _ranks(ranks: tuple[int, ...], one: str, more: str) -> str:
    return f"rank{'s' if len(ranks) != 1 else ''} {', '.join(map(str, ranks))} {one if len(ranks) == 1 else more}"
