"""Start-up: the one line that puts fdcomm in FastDeploy's place, then a program that does not know of it.

``python -m tests.migrate worker_loop --port 5000 --ranks 2 --rank 0``
"""

from __future__ import annotations

import importlib
import sys

import fdcomm.drop_in

fdcomm.drop_in.install()

if __name__ == "__main__":
    importlib.import_module(f"tests.migrate.{sys.argv.pop(1)}").main()
