"""Paths, formats and keys of what talks through ZeroMQ."""

from __future__ import annotations

import os
import pickle
import socket
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fdcomm import AddressInUseError, ConfigError, CurveKeys, PayloadError, UndecodableError, UnsafeConfigError
from fdcomm.zsocket.codec import FORMATS, Format, decode, dumps, encode, format_of, loads
from fdcomm.zsocket.paths import LONGEST, Claim, socket_file

DATA = {"id": "q1", "n": [1, 2.5, None, True], "text": "ünïcode"}

# -- paths -----------------------------------------------------------------------------------------------------------


def test_a_short_name_is_the_path(tmp_path: Path) -> None:
    assert socket_file("9923.socket", "/tmp") == "/tmp/9923.socket"


def test_a_long_name_gets_a_short_one_that_is_always_the_same() -> None:
    folder = "/tmp/" + "d" * 50
    long = [socket_file(f"{'n' * 80}{number}.socket", folder) for number in (1, 1, 2)]
    assert long[0] == long[1] != long[2]
    assert all(len(path) <= LONGEST and os.path.dirname(path) == folder for path in long)
    edge = "n" * (LONGEST - len(folder) - 1)
    assert socket_file(edge, folder) == f"{folder}/{edge}"
    assert socket_file(edge + "n", folder) != f"{folder}/{edge}n"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_no_file_has_this_name(name: str) -> None:
    with pytest.raises(ConfigError):
        socket_file(name, "/tmp")


def test_a_directory_may_be_too_long() -> None:
    with pytest.raises(ConfigError, match="FDCOMM_RUNTIME_DIR"):
        socket_file("n" * 100, "/tmp/" + "d" * 90)


def test_one_claim_at_a_time(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    first = Claim(path)
    with pytest.raises(AddressInUseError):
        Claim(path)
    first.release()
    first.release()
    second = Claim(path)
    os.close(second.listen())
    assert os.stat(path).st_mode & 0o777 == 0o600
    second.release()
    assert list(tmp_path.iterdir()) == []


def test_a_live_socket_of_other_software_is_not_taken(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(path)
        other.listen()
        with pytest.raises(AddressInUseError, match="not fdcomm"):
            Claim(path)
    Claim(path).release()  # a dead one is
    assert list(tmp_path.iterdir()) == []


# -- formats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", FORMATS)
def test_what_is_sent_comes_back(how: Format) -> None:
    message = encode(DATA, how)
    assert format_of(message) == how
    assert decode(message, (how,)).data == DATA
    assert list(loads(dumps([DATA, 1], how), (how,))) == [DATA, 1]


@pytest.mark.parametrize("how", FORMATS)
def test_a_dictionary_that_looks_like_an_envelope_is_data(how: Format) -> None:
    data = {"__meta": {"send_ts": 1.0}, "data": 2}
    assert decode(encode(data, how), FORMATS).data == data


@pytest.mark.parametrize("how", FORMATS)
def test_a_format_that_is_not_allowed_is_refused(how: Format) -> None:
    others = tuple(other for other in FORMATS if other != how)
    with pytest.raises(UndecodableError, match=how):
        decode(encode(DATA, how), others)


SECRET = "secret content"
DAMAGED: dict[str, bytes] = {
    "nothing": b"",
    "no format": b"\x00" + SECRET.encode(),
    "cut json": b'["' + SECRET.encode(),
    "cut msgpack": msgspec.msgpack.encode([1, 2, SECRET])[:-3],
    "cut pickle": pickle.dumps([1, 2, SECRET])[:-3],
    "no list": pickle.dumps({SECRET: 1}),
    "another envelope": msgspec.json.encode([9, 9, SECRET]),
    "a short envelope": msgspec.json.encode([1, SECRET]),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_damaged_is_refused_without_its_content(name: str) -> None:
    with pytest.raises(UndecodableError) as caught:
        decode(DAMAGED[name], FORMATS)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None


class _Raises:
    def __reduce__(self) -> Any:
        raise RuntimeError("no")


@pytest.mark.parametrize("how", FORMATS)
def test_what_cannot_be_written_is_an_error(how: Format) -> None:
    with pytest.raises(PayloadError):
        encode(_Raises(), how)


# -- keys ------------------------------------------------------------------------------------------------------------


def test_keys_are_handed_over_in_a_file(tmp_path: Path) -> None:
    keys = CurveKeys.generate()
    for name, some in (("server", keys), ("clients", keys.for_clients())):
        some.save(tmp_path / name)
        assert os.stat(tmp_path / name).st_mode & 0o777 == 0o600
        assert CurveKeys.load(tmp_path / name) == some
    assert keys.for_clients().server_secret == ""
    assert keys.server_secret not in repr(keys)
    with pytest.raises(FileExistsError):
        keys.save(tmp_path / "server")


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    CurveKeys.generate().save(tmp_path / "keys")
    os.chmod(tmp_path / "keys", 0o640)
    with pytest.raises(UnsafeConfigError, match="0600"):
        CurveKeys.load(tmp_path / "keys")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"server_public": "x", "client_public": "y", "client_secret": "z"}'])
def test_a_file_without_keys_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "keys"
    path.touch(0o600)
    path.write_text(text)
    with pytest.raises(ConfigError):
        CurveKeys.load(path)
