"""What everything that talks through ZeroMQ shares. Needs pyzmq and msgspec (``pip install fdcomm[zmq]``)."""
