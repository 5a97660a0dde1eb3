"""FastDeploy's ZeroMQ classes as its programs call them, on fdcomm's. Used by :mod:`fdcomm.drop_in`."""
