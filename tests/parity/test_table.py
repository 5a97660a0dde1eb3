"""The table of the API: every row has its member, its actions, its test; nothing public is without a row."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from typing import Any

import pytest

from fdcomm import EngineCacheQueue, EngineWorkerQueue, ZmqIpcClient
from fdcomm.barrier import RankBarrier
from fdcomm.drop_in_zmq import fmq, zmq_server
from fdcomm.drop_in_zmq.fmq_factory import FMQFactory
from tests.parity import table
from tests.parity.rows import Row, groups, rows
from tests.parity.table import PAGE, page
from tests.tidy.sources import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLASSES: dict[str, Any] = {
    "EngineWorkerQueue": EngineWorkerQueue,
    "EngineCacheQueue": EngineCacheQueue,
    "RankBarrier": RankBarrier,
    "FMQ": fmq.FMQ,
    "Queue": fmq.Queue,
    "Topic": fmq.Topic,
    "EndpointManager": fmq.EndpointManager,
    "FMQFactory": FMQFactory,
    "ZmqIpcClient": ZmqIpcClient,
    "ZmqIpcServer": zmq_server.ZmqIpcServer,
    "ZmqTcpServer": zmq_server.ZmqTcpServer,
}
# They have fields only, which test_fmq.py compares.
PLAIN = {"Message", "Descriptor", "Config", "Endpoint", "SocketOptions"}

_SERVER = {"receive_handle_once", "send_batch_response", "statistics", "stage"}

# What fdcomm adds to FastDeploy's classes.
OURS = {
    "EngineWorkerQueue": {"close", "statistics", "task_ticket"},
    "EngineCacheQueue": {"close", "cleanup", "statistics", "is_single_node", "transfer_ticket"},
    "RankBarrier": {"generation", "missing"},
    "FMQ": set(),
    "Queue": set(),
    "Topic": set(),
    "EndpointManager": {"config"},
    "FMQFactory": set(),
    "ZmqIpcClient": {"send_handle", "recv_results", "recv_batch", "send_control_cmd", "recv_control_result"},
    "ZmqIpcServer": _SERVER,
    "ZmqTcpServer": _SERVER,
}
# Stores and services of the host that follow no contract of their own.
WITHOUT_CONTRACT = {"session", "notes", "messages", "topic", "settings"}
# The contract of results stands in bitmask's; disaggregated requests run on the same steps.
IN_ANOTHER = {"done": ("bitmask", "done"), "disaggregate": ("bitmask", "done")}

ROWS = rows()


def _contract(protocol: str) -> dict[str, Any]:
    name, part = IN_ANOTHER.get(protocol, (protocol, ""))
    contract: dict[str, Any] = tomllib.loads((ROOT / "spec" / f"{name}.toml").read_text(encoding="utf-8"))
    return contract[part] if part else contract


@functools.cache
def _actions(protocol: str) -> set[str]:
    contract = _contract(protocol)
    actions = {action["name"] for action in contract.get("action", [])}
    if "extends" in contract:
        actions |= _actions(contract["extends"]) - set(contract.get("without_actions", []))
    return actions


@functools.cache
def _collected() -> dict[str, set[str]]:
    """Return pytest's own list of the parity tests: for each function the words of its parameters."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "tests/parity"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, env=environment, check=False)
    found: dict[str, set[str]] = {}
    for line in done.stdout.splitlines():
        name, _, parameters = line.partition("[")
        if "::" in name:
            found.setdefault(name, set()).update(parameters.rstrip("]").split("-"))
    assert found, done.stdout + done.stderr
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_is_complete(row: Row) -> None:
    columns = table._COLUMNS[row.kind]
    assert [column for column in ("seed", "member", *columns) if str(row.cells.get(column, "")).strip() == ""] == []
    assert set(row.cells) == {"seed", "member", *columns}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_member_exists(row: Row) -> None:
    if row.owner in PLAIN:
        return
    owner = CLASSES[row.owner]
    if row.kind == "argument" or row.member in ("total_num", "position"):
        return  # compared with the signature in test_arguments, read in test_views
    assert row.member in {name for cls in owner.__mro__ for name in vars(cls)}
    if row.kind == "method" and row.owner != "RankBarrier":
        assert callable(getattr(owner, row.member))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_action_exists(row: Row) -> None:
    protocol, action = row.cells["protocol"], row.cells["action"]
    if protocol in WITHOUT_CONTRACT or row.kind == "barrier":
        return
    if row.cells.get("view") == "LockView" or action == "view":
        assert _contract(protocol)
        return
    if row.owner in PLAIN:
        assert _contract(protocol)
        return
    assert {name.strip() for name in action.split(",")} - _actions(protocol) == set()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_test_exists(row: Row) -> None:
    name, _, parameter = row.cells["test"].partition("[")
    assert name in _collected()
    assert not parameter or parameter.rstrip("]") in _collected()[name]


def test_names_are_those_of_fastdeploy() -> None:
    assert [row.name for row in ROWS if row.cells["seed"] != row.member] == []
    assert len({(row.kind, row.name) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("owner", CLASSES)
def test_nothing_public_is_without_a_row(owner: str) -> None:
    public = {
        name
        for cls in CLASSES[owner].__mro__[:-1]
        for name in vars(cls)
        if not name.startswith("_") and cls.__module__.startswith("fdcomm")
    }
    listed = {row.member for row in ROWS if row.owner == owner and row.kind != "argument"}
    assert public - listed == OURS[owner]
    assert listed - public == ({"total_num", "position"} if owner == "EngineCacheQueue" else set())


def test_the_tables_are_there() -> None:
    """Each of FastDeploy's tables, with as many rows as it has."""
    sizes: dict[tuple[str, str], int] = {}
    for group in groups():
        key = (group.owner, group.seed)
        sizes[key] = sizes.get(key, 0) + len(group.rows)
    worker = {"3.2": 7, "3.3.1": 6, "3.3.2": 3, "3.3.3": 5, "3.3.4": 7, "3.3.5": 4, "3.3.6": 8, "3.3.7": 2, "3.4": 22}
    cache = {"4.2": 7, "4.3.1": 5, "4.3.2": 13, "4.4": 2, "4.5": 8}
    assert sizes == {
        **{("EngineWorkerQueue", seed): size for seed, size in worker.items()},
        **{("EngineCacheQueue", seed): size for seed, size in cache.items()},
        ("RankBarrier", "3.3.6, 4.3.2"): 6,
        ("FMQ", "fmq"): 3,
        ("Queue", "fmq"): 3,
        ("Topic", "fmq"): 3,
        ("EndpointManager", "fmq"): 2,
        ("Message", "fmq"): 4,
        ("Descriptor", "fmq"): 2,
        ("Config", "fmq"): 5,
        ("Endpoint", "fmq"): 4,
        ("SocketOptions", "fmq"): 6,
        ("FMQFactory", "fmq_factory"): 9,
        ("ZmqIpcClient", "zmq_client"): 8,
        ("ZmqIpcServer", "zmq_server"): 9,
        ("ZmqTcpServer", "zmq_server"): 9,
    }


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.parity.table"


def test_the_page_has_no_empty_cell() -> None:
    lines = [line for line in page().splitlines() if line.startswith("|")]
    assert len(lines) == len(ROWS) + 2 * len(groups())
    assert [line for line in lines if "" in [cell.strip() for cell in line.strip("|").split("|")]] == []
