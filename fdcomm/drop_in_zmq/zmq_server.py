"""FastDeploy's ``zmq_server``: what goes wrong for one request is logged, and never ends the loop of its caller.

FastDeploy's token thread sends the results of many requests in one loop, with one handler around it: an error for one
request would cost those of the others. Programs that want to know use fdcomm's classes, which raise.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

import zmq

from fdcomm.deadline import DEFAULT, Timeout
from fdcomm.drop_in_zmq.links import FOLDER, Link
from fdcomm.errors import (
    ClosedError,
    CommTimeoutError,
    ConfigError,
    PayloadError,
    ProtocolViolationError,
    UndeliverableError,
)
from fdcomm.mailbox import zmq_server as mailbox
from fdcomm.mailbox.server_base import ZmqServerBase

__all__ = ("ZmqIpcServer", "ZmqServerBase", "ZmqTcpServer")

_LOG = logging.getLogger("fdcomm.mailbox")
_ELSEWHERE = ("FD_ENABLE_INTERNAL_ADAPTER", "FD_USE_AGGREGATE_SEND")


class _Lenient(ZmqServerBase):
    """What both servers do as FastDeploy's."""

    def send_response(self, req_id: str, data: Sequence[Any], *, timeout: Timeout = DEFAULT) -> None:
        """As :meth:`fdcomm.ZmqIpcServer.send_response`; what would be raised about the results is logged."""
        try:
            super().send_response(req_id, data, timeout=timeout)
        except ClosedError:
            raise
        except (UndeliverableError, CommTimeoutError, PayloadError, ProtocolViolationError) as error:
            _LOG.error("send_response: request %s: %s", req_id, error)

    def response_for_control_cmd(self, task_id: str, result: Any, *, timeout: Timeout = DEFAULT) -> None:
        """As :meth:`fdcomm.ZmqIpcServer.response_for_control_cmd`; what would be raised is logged."""
        try:
            super().response_for_control_cmd(task_id, result, timeout=timeout)
        except (UndeliverableError, CommTimeoutError, PayloadError) as error:
            _LOG.error("response_for_control_cmd: task %s: %s", task_id, error)


def _refuse_other_forms() -> None:
    for name in _ELSEWHERE:
        if os.environ.get(name, "0") not in ("", "0"):
            raise ConfigError(f"{name} changes what clients are sent, and fdcomm does not have that form; unset it")


class ZmqIpcServer(_Lenient, mailbox.ZmqIpcServer):
    """As :class:`fdcomm.ZmqIpcServer`, found also at FastDeploy's path.

    Args:
        name: What clients call it.
        mode: ``zmq.PULL``, ``zmq.ROUTER`` or ``zmq.PUSH``.
        more: As :class:`fdcomm.ZmqIpcServer`.

    Raises:
        AddressInUseError: A live server has the name.
        ConfigError: ``FD_ENABLE_INTERNAL_ADAPTER`` or ``FD_USE_AGGREGATE_SEND`` is set.
    """

    def __init__(self, name: str | int, mode: int, **more: Any) -> None:
        _refuse_other_forms()
        super().__init__(name, mode, **more)
        self._link: Link | None = None
        file = {int(zmq.PULL): f"{name}.socket", int(zmq.ROUTER): f"router_{name}.ipc"}.get(int(mode))
        if file is not None:
            try:
                self._link = Link(file, self.file_name, FOLDER)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """End all requests, close, and remove the socket. Idempotent."""
        if self._link is not None:
            self._link.remove()
        super().close()


class ZmqTcpServer(_Lenient, mailbox.ZmqTcpServer):
    """As :class:`fdcomm.ZmqTcpServer`: without ``keys`` it is for clients of this machine.

    Args:
        port: 0 lets the system choose.
        mode: ``zmq.PULL``, ``zmq.ROUTER`` or ``zmq.PUSH``.
        more: As :class:`fdcomm.ZmqTcpServer`.

    Raises:
        AddressInUseError: The port is taken.
        ConfigError: ``FD_ENABLE_INTERNAL_ADAPTER`` or ``FD_USE_AGGREGATE_SEND`` is set.
    """

    def __init__(self, port: int, mode: int, **more: Any) -> None:
        _refuse_other_forms()
        super().__init__(port, mode, **more)
