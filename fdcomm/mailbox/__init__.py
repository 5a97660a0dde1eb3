"""Requests and their results between processes, over ZeroMQ. Needs ``pip install fdcomm[zmq]``.

Protocol: ``spec/mailbox.toml``.
"""
