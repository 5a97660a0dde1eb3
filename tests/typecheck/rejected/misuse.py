"""A user's program in which mypy must refuse each marked line, with the marked code. It is checked, never run."""

from fdcomm import CommTimeoutError, EngineWorkerQueue

EngineWorkerQueue("0.0.0.0:5000")  # E: arg-type
EngineWorkerQueue(("0.0.0.0", "5000"))  # E: arg-type
EngineWorkerQueue(authkey="secret")  # E: arg-type
EngineWorkerQueue(role="consumer")  # E: arg-type
EngineWorkerQueue(("0.0.0.0", 5000), b"k", False, 4, 0, 1, 0, "reader")  # E: call-arg
EngineWorkerQueue(dept=2)  # E: call-arg

queue = EngineWorkerQueue(("0.0.0.0", 5000), num_client=4, client_id=1)
queue.put_tasks([1], 5.0)  # E: call-arg
queue.put_tasks([1], timeout="5")  # E: arg-type
queue.get_tasks(ticket="1")  # E: arg-type
tasks: list[int] = queue.get_tasks()  # E: assignment
flag: str = queue.exist_tasks()  # E: assignment
queue.statistics().num_tasks = 3  # E: misc
queue.put_task([1])  # E: attr-defined

error = CommTimeoutError("late")
ranks: list[int] = error.missing  # E: assignment
