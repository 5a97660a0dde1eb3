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
    FencedError,
    PeerLostError,
)
from fdcomm.meeting.hall import Room
from fdcomm.meeting.layout import (
    ARRIVAL,
    ENDING,
    LABEL_BYTES,
    LIVES,
    LOST,
    NUMBER,
    PID,
    PLACE,
    next_turn,
    read_why,
    round_of,
    why_of,
)

__all__ = (
    "ended",
    "fenced",
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


def missing(room: Room, turn: int, place: int = 0) -> tuple[int, ...]:
    """The ranks that do not wait at a place in a turn."""
    ranks = range(room.shape.ranks)
    return tuple(rank for rank in ranks if not _waits(room, _line(room, rank), turn, place))


def _waits(room: Room, line: int, turn: int, place: int) -> bool:
    """Whether a line's arrival is for that place, and no ending since was about it: then its process waits on."""
    words, shape = room.words, room.shape
    arrival = words[shape.of_line(line, ARRIVAL)]
    if shape.places == 1:
        return bool(arrival == turn)
    if words[shape.of_line(line, NUMBER)] // PLACE != place or not 0 <= arrival <= turn:
        return False
    while round_of(arrival) == round_of(turn) and arrival // ENDING < turn // ENDING:
        arrival = next_turn(arrival, 0)
        kind, where = read_why(words[why_of(arrival)], arrival)
        if kind != "reset" and (kind != "broken" or where == place):
            return False
    return bool(arrival // ENDING == turn // ENDING)


def _arrived(room: Room, turn: int) -> tuple[int, ...]:
    """The ranks that have arrived in a turn, wherever."""
    ranks = range(room.shape.ranks)
    return tuple(rank for rank in ranks if room.words[room.shape.of_line(_line(room, rank), ARRIVAL)] == turn)


def lost(room: Room) -> tuple[int, ...]:
    """The ranks whose process was given up."""
    return tuple(rank for rank in range(room.shape.ranks) if room.words[LIVES + rank] & 1)


def not_open(room: Room, turn: int, place: int, operation: str) -> FdcommError:
    """Nobody may begin to wait."""
    return _lost(room, turn, place, operation) if turn & LOST else _broken(room, turn, place, operation)


def fenced(rank: int, operation: str) -> FencedError:
    """The process is not the rank's any more."""
    return FencedError(
        f"{operation}: rank {rank} was given up, and this process is not it any more; attach again",
        operation=operation,
        missing=(rank,),
    )


def over(number: int, now: int, operation: str) -> BarrierMismatchError:
    """A wait for a round that was passed before."""
    return BarrierMismatchError(
        f"{operation}: round {number} is over, all ranks have passed it; the meeting is in round {now}",
        operation=operation,
        epoch=now,
    )


def to_come(room: Room, rank: int, number: int, turn: int, place: int, operation: str) -> BarrierMismatchError:
    """A wait for a round that the others cannot have reached."""
    arrived, now = _arrived(room, turn), room.round(turn, place)
    others = f", {_ranks(arrived, 'waits', 'wait')} in it" if arrived else ""
    return BarrierMismatchError(
        f"{operation}: rank {rank} waits for round {number}, and the meeting is in round {now}{others}; "
        "none of them can go on",
        operation=operation,
        missing=tuple(sorted({*arrived, rank})),
        epoch=now,
    )


def ended(room: Room, kind: str, turn: int, place: int, operation: str) -> FdcommError:
    """A wait that ended without a pass."""
    if kind == "lost":
        return _lost(room, turn, place, operation)
    if kind == "mismatch":
        arrived, now = _arrived(room, turn), room.round(turn, place)
        lines = {rank: _line(room, rank) for rank in arrived}
        where = {rank: f"{_barrier(room, line)} with label {room.label(line)!r}" for rank, line in lines.items()}
        other = "" if len(set(where.values())) > 1 else ", and another rank waits for a round that is to come"
        return BarrierMismatchError(
            f"{operation}: the ranks are not in the same round: "
            f"{', '.join(f'rank {rank}{text}' for rank, text in where.items())}{other} "
            f"(the meeting is in round {now}); none of them can go on",
            operation=operation,
            missing=arrived,
            epoch=now,
        )
    if kind == "broken":
        return _broken(room, turn, place, operation)
    now = room.round(turn, place)
    return BarrierBrokenError(
        f"{operation}: the wait in round {now} ended so long ago that its reason is no longer known",
        operation=operation,
        epoch=now,
    )


def _barrier(room: Room, line: int) -> str:
    """At which barrier, if there are several."""
    place = room.words[room.shape.of_line(line, NUMBER)] // PLACE
    return f" at {room.names[place]}" if place < len(room.names) > 1 else ""


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


def timed_out(room: Room, rank: int, turn: int, place: int, operation: str, waited_s: float) -> CommTimeoutError:
    """Not everybody arrived in time, and the rank's arrival was taken back."""
    absent, now = tuple(other for other in missing(room, turn, place) if other != rank), room.round(turn, place)
    away = tuple(rank for rank in absent if not room.words[room.shape.of_line(_line(room, rank), PID)])
    hint = f" ({_ranks(away, 'has', 'have')} no process that waits here)" if away else ""
    return CommTimeoutError(
        f"{operation}: {_ranks(absent, 'has', 'have')} not arrived in round {now} after {waited_s:.3f} s"
        f"{hint}; this rank's arrival was taken back",
        operation=operation,
        missing=absent,
        epoch=now,
        waited_s=waited_s,
    )


def worn_out(round_: int) -> FdcommError:
    """A turn cannot count further."""
    return BarrierBrokenError(f"too many waits have ended in round {round_}; make a new meeting", epoch=round_)


def _lost(room: Room, turn: int, place: int, operation: str) -> PeerLostError:
    ranks, now = lost(room), room.round(turn, place)
    who = f"{_ranks(ranks, 'is', 'are')} gone" if ranks else "a rank was gone"
    return PeerLostError(
        f"{operation}: {who}, so round {now} could not complete; restart what is gone, then wait again",
        operation=operation,
        missing=ranks,
        epoch=now,
    )


def _broken(room: Room, turn: int, place: int, operation: str) -> BarrierBrokenError:
    now = room.round(turn, place)
    return BarrierBrokenError(
        f"{operation}: the meeting was aborted in round {now}; reset() makes it usable again",
        operation=operation,
        epoch=now,
    )


def _ranks(ranks: tuple[int, ...], one: str, more: str) -> str:
    return f"rank{'s' if len(ranks) != 1 else ''} {', '.join(map(str, ranks))} {one if len(ranks) == 1 else more}"
