"""The part of the worker queue that serves cache passing between prefill and decode instances.

Protocols: ``spec/cache_info.toml`` and ``spec/connect.toml`` (each item to every rank, as dispatch), ``spec/gate.toml``
(one answer of every rank, collected together).
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from fdcomm.combine import all_succeeded, error_wins, first_of_equal
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, RankError
from fdcomm.handle import Handle

__all__ = ("WorkerCacheMethods",)


class WorkerCacheMethods(Handle):
    """Methods of :class:`fdcomm.EngineWorkerQueue`."""

    _kind = "worker"

    # -- engine to every rank ------------------------------------------------------------------------------------

    def put_cache_info(self, cache_info: Sequence[Any], *, timeout: Timeout = DEFAULT) -> None:
        """Give a list of cache infos to every rank. Waits, and raises, as :meth:`put_tasks`.

        The first put does not wait for anybody: a rank that comes later finds it.
        """
        self._put("cache_info", list(cache_info), timeout, "put_cache_info")

    def get_cache_info(self, *, timeout: Timeout = 0.0) -> list[Any]:
        """Take this rank's next list of cache infos; ``[]`` when there is none and ``timeout`` is 0.

        Raises as :meth:`get_tasks`.
        """
        id_, infos, _ = self._get("cache_info", 0, timeout, "get_cache_info")
        return infos if id_ else []

    def num_cache_infos(self) -> int:
        """Return how many cache infos are retained. One round trip."""
        return len(self._cache_infos())

    def put_connect_rdma_task(self, connect_task: Any, *, timeout: Timeout = DEFAULT) -> None:
        """Give a connect task to every rank. Waits, and raises, as :meth:`put_tasks`."""
        self._put("connect", connect_task, timeout, "put_connect_rdma_task")

    def get_connect_rdma_task(self, *, timeout: Timeout = 0.0) -> tuple[Any | None, bool]:
        """Take this rank's next connect task. Returns ``(task, all_read)``, or ``(None, False)``.

        Raises as :meth:`get_tasks`.
        """
        id_, task, all_read = self._get("connect", 0, timeout, "get_connect_rdma_task")
        return (task, all_read) if id_ else (None, False)

    # -- every rank to the engine --------------------------------------------------------------------------------

    def put_connect_rdma_task_response(
        self, connect_task_response: dict[str, Any], *, timeout: Timeout = DEFAULT
    ) -> bool:
        """Answer a connect task. Actions PutAnswer, RefuseLate.

        Args:
            connect_task_response: Has ``"success"`` (truth value) and ``"task_id"``, the task that it answers.
            timeout: Seconds to wait for room (64 rounds may be open).

        Returns:
            True when every rank has now answered this task.

        Raises:
            ConfigError: There is no ``"success"``.
            CommTimeoutError: No room in time.
            StaleAnswerError: The round of this task had ended without this rank.
            RankError: The handle has no rank.
        """
        name = "put_connect_rdma_task_response"
        if not isinstance(connect_task_response, dict) or "success" not in connect_task_response:
            raise ConfigError(f"{name}: the response must be a dict with the key 'success'", operation=name)
        key = connect_task_response.get("task_id")
        return self._answer("connect_response", key, connect_task_response, timeout, name)

    def get_connect_rdma_task_response(
        self, *, timeout: Timeout = 0.0, round_timeout: Timeout = DEFAULT
    ) -> dict[str, Any] | None:
        """Collect all ranks' answers to one connect task. Actions Collect, EndRound.

        Args:
            timeout: Seconds to wait until every rank has answered; 0 answers at once.
            round_timeout: Seconds from a round's first answer until it is given up.

        Returns:
            Rank 0's response with ``"success"`` of all, or None when no task has all its answers yet.

        Raises:
            PeerLostError: A rank that has not answered is gone; the round is over.
            CommTimeoutError: ``missing`` names the ranks that did not answer. After ``round_timeout`` the round is
                over; after ``timeout`` it goes on.
        """
        response: dict[str, Any] | None = self._collect(
            "connect_response", all_succeeded, timeout, round_timeout, "get_connect_rdma_task_response"
        )
        return response

    def put_finished_req(self, send_cache_result: Sequence[Sequence[Any]], *, timeout: Timeout = DEFAULT) -> bool:
        """Report requests whose cache was sent: ``[[request_id, status], ...]``, usually one.

        Returns True when every rank has now reported the last of them. Raises as
        :meth:`put_connect_rdma_task_response`; ConfigError when the list is empty or malformed.
        """
        name = "put_finished_req"
        results = [list(result) for result in send_cache_result]
        if not results or any(len(result) != 2 for result in results):
            raise ConfigError(f"{name}: expected [[request_id, status], ...] with at least one pair", operation=name)
        all_put = False
        for result in results:
            all_put = self._answer("send_cache", result[0], result, timeout, name)
        return all_put

    def get_finished_req(self, *, timeout: Timeout = 0.0, round_timeout: Timeout = DEFAULT) -> list[list[Any]]:
        """Collect all ranks' reports of one request: ``[[request_id, status]]``, or ``[]`` when none is complete.

        A status that contains "error" wins. Raises as :meth:`get_connect_rdma_task_response`.
        """
        result = self._collect("send_cache", error_wins, timeout, round_timeout, "get_finished_req")
        return [result] if result is not None else []

    def put_finished_add_cache_task_req(self, req_ids: Sequence[Any], *, timeout: Timeout = DEFAULT) -> bool:
        """Report requests whose cache task was added. Returns True when every rank has now reported the same list.

        Raises as :meth:`put_connect_rdma_task_response`; ConfigError when the list is empty.
        """
        name = "put_finished_add_cache_task_req"
        ids = list(req_ids)
        if not ids:
            raise ConfigError(f"{name}: the list of request ids is empty", operation=name)
        return self._answer("add_cache", tuple(ids), ids, timeout, name)

    def get_finished_add_cache_task_req(self, *, timeout: Timeout = 0.0, round_timeout: Timeout = DEFAULT) -> list[Any]:
        """Collect a list of request ids that every rank has reported, or ``[]`` when none is complete.

        Raises as :meth:`get_connect_rdma_task_response`.
        """
        ids = self._collect("add_cache", first_of_equal, timeout, round_timeout, "get_finished_add_cache_task_req")
        return ids if ids is not None else []

    # -- disaggregated requests ----------------------------------------------------------------------------------

    def put_disaggregated_tasks(self, item: Any) -> None:
        """Queue an item for whoever asks first. Never waits."""
        self._act("disaggregate", "put", self._pickle(item, "put_disaggregated_tasks"), "put_disaggregated_tasks")

    def get_disaggregated_tasks(self) -> list[Any] | None:
        """Take all queued items, oldest first; None when there is none. Atomic, also with several takers."""
        name = "get_disaggregated_tasks"
        items = [self._unpickle(payload, name) for payload in self._act("disaggregate", "take", 1 << 30, name)]
        return items or None

    def disaggregate_queue_empty(self) -> bool:
        """Return True when no item is queued."""
        return not self._view("disaggregate", name="disaggregate_queue_empty")["length"]

    # -- helpers -------------------------------------------------------------------------------------------------

    def _cache_infos(self) -> list[Any]:
        retained = self._act("cache_info", "items", name="num_cache_infos")
        return [info for payload in retained for info in self._unpickle(payload, "num_cache_infos")]

    def _answer(self, gate: str, key: Hashable, answer: Any, timeout: Timeout, name: str) -> bool:
        limit = timeout_seconds(timeout, name)
        if self._role == "producer" or self.client_id < 0:
            raise RankError(f"{name}: this handle acts for no rank", operation=name)
        try:
            hash(key)
        except TypeError:
            raise ConfigError(f"{name}: the id {key!r} must be hashable", operation=name) from None
        payload = self._pickle(answer, name)
        # The host compares keys and never looks inside them: a pickled one needs no class of the caller's there.
        all_put: bool = self._act(gate, "put_answer", pickle.dumps(key), payload, limit, name, timeout=limit, name=name)
        return all_put

    def _collect(
        self, gate: str, combine: Callable[[list[Any], str], Any], timeout: Timeout, round_timeout: Timeout, name: str
    ) -> Any:
        limit = timeout_seconds(timeout, name)
        round_limit = timeout_seconds(round_timeout, name)
        answers = self._act(gate, "collect", limit, round_limit, name, timeout=limit, name=name)
        if answers is None:
            return None
        return combine([self._unpickle(payload, name) for payload in answers], name)
