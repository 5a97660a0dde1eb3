"""Requests and their results between processes, over ZeroMQ. Needs ``pip install fdcomm[zmq]``.

Protocol: ``spec/mailbox.toml``.
"""

import logging

__all__ = ()

# A program that does not listen to the log is not to have it on its stderr.
logging.getLogger("fdcomm.mailbox").addHandler(logging.NullHandler())
