"""Handles on other machines: one session with a host over ZeroMQ connections that break and come back.

Protocol: ``spec/link.toml``, docs/protocols/link.md. All but ``options`` needs pyzmq and msgspec
(``pip install fdcomm[zmq]``).
"""
