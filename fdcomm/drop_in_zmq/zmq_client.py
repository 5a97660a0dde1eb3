"""FastDeploy's ``zmq_client``: fdcomm's classes serve as they are."""

from __future__ import annotations

from fdcomm.mailbox.zmq_client import ZmqClientBase, ZmqIpcClient

__all__ = ("ZmqClientBase", "ZmqIpcClient")
