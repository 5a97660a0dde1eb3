"""The part of the worker queue that serves cache passing between prefill and decode instances.

Protocols: ``spec/cache_info.toml`` and ``spec/connect.toml`` (each item to every rank, as dispatch), ``spec/gate.toml``
(one answer of every rank, collected together).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fdcomm.combine import all_succeeded, error_wins, first_of_equal, request_key
from fdcomm.deadline import DEFAULT, Timeout, timeout_seconds
from fdcomm.errors import ConfigError, FdcommError, InconsistentAnswersError, PayloadError, RankError
from fdcomm.handle import Handle

__all__ = ("WorkerCacheMethods",)


class WorkerCacheMethods(Handle):
    """Methods of :class:`fdcomm.EngineWorkerQueue`."""

    _kind = "worker"
    _unreadable: deque[PayloadError]
    """What get_disaggregated_tasks() has still to tell."""

    # -- engine to every rank ------------------------------------------------------------------------------------

    def put_cache_info(self, cache_info: Sequence[Any], *, timeout: Timeout = DEFAULT) -> None:
        """Give a list of cache infos to every rank. Waits, and raises, as :meth:`put_tasks`.

        The first put does not wait for anybody: a rank that comes later finds it. An empty list is nothing: it is not
        put, and the call returns at once.

        Raises:
            ConfigError: ``cache_info`` is no list.
        """
        name = "put_cache_info"
        if isinstance(cache_info, (str, bytes)) or not isinstance(cache_info, Sequence):
            kind = type(cache_info).__name__
            raise ConfigError(f"{name}: expected a list of cache infos, not {kind}", operation=name)
        self._use(name)
        if cache_info:
            self._put("cache_info", list(cache_info), timeout, name, len(cache_info))

    def get_cache_info(self, *, timeout: Timeout = 0.0) -> list[Any]:
        """Take this rank's next list of cache infos; ``[]`` when there is none and ``timeout`` is 0.

        Raises as :meth:`get_tasks`.
        """
        id_, infos, _ = self._get("cache_info", 0, timeout, "get_cache_info")
        return infos if id_ else []

    def num_cache_infos(self) -> int:
        """Return how many cache infos are retained. Loads from shared memory on the host's machine, no round trip."""
        return self._path("cache_info", "num_cache_infos").num_things("num_cache_infos")

    def put_connect_rdma_task(self, connect_task: Any, *, timeout: Timeout = DEFAULT) -> None:
        """Give a connect task to every rank. Waits, and raises, as :meth:`put_tasks`.

        Raises:
            ConfigError: The task is None, which tells a reader that there is none.
        """
        self._put("connect", self._something(connect_task, "put_connect_rdma_task"), timeout, "put_connect_rdma_task")

    def get_connect_rdma_task(self, *, timeout: Timeout = 0.0) -> tuple[Any | None, bool]:
        """Take this rank's next connect task. Returns ``(task, all_read)``, or ``(None, False)``.

        Raises as :meth:`get_tasks`.
        """
        id_, task, all_read = self._get("connect", 0, timeout, "get_connect_rdma_task")
        return (task, all_read) if id_ else (None, False)

    # -- every rank to the engine --------------------------------------------------------------------------------

    def put_connect_rdma_task_response(
        self, connect_task_response: Mapping[str, Any], *, timeout: Timeout = DEFAULT
    ) -> bool:
        """Answer a connect task. Actions PutAnswer, RefuseLate.

        Args:
            connect_task_response: Has ``"success"`` (truth value) and ``"task_id"``, the task that it answers.
            timeout: Seconds to wait for room (64 rounds may be open), and for the end of the round that this rank has
                answered under the same id.

        Returns:
            True when every rank has now answered this task.

        Raises:
            ConfigError: There is no ``"success"``, or it has no truth value, or the id is of no use as a name.
            CommTimeoutError: No room in time.
            StaleAnswerError: A round of this task had ended without this rank.
            RankError: The handle has no rank.
        """
        name = "put_connect_rdma_task_response"
        if not isinstance(connect_task_response, Mapping) or "success" not in connect_task_response:
            raise ConfigError(f"{name}: the response must be a dict with the key 'success'", operation=name)
        try:
            bool(connect_task_response["success"])
        except Exception as error:  # an array has none, and the engine would meet that, not this rank
            raise ConfigError(f"{name}: 'success' has no truth value: {error}", operation=name) from error
        key = connect_task_response.get("task_id")
        return self._answer("connect_response", key, dict(connect_task_response), timeout, name)

    def get_connect_rdma_task_response(
        self, *, timeout: Timeout = 0.0, round_timeout: Timeout = DEFAULT
    ) -> dict[str, Any] | None:
        """Collect all ranks' answers to one connect task. Actions Collect, EndLost, EndTimeout.

        Rounds are given out in the order in which they began. One that has ended raises once and holds up nothing:
        call again.

        Args:
            timeout: Seconds to wait until every rank has answered; 0 answers at once.
            round_timeout: Seconds from a round's first answer until it is given up.

        Returns:
            Rank 0's response with ``"success"`` of all, or None when no task has all its answers yet.

        Raises:
            PeerLostError: A rank was lost before it answered; the round is over. ``missing`` names the ranks that
                have not answered, ``request`` the task.
            CommTimeoutError: The same after ``round_timeout``. After ``timeout``, when nothing was ended.
            InconsistentAnswersError: The answers cannot be combined; the round is over.
        """
        response: dict[str, Any] | None = self._collect(
            "connect_response", all_succeeded, timeout, round_timeout, "get_connect_rdma_task_response"
        )
        return response

    def put_finished_req(self, send_cache_result: Sequence[Sequence[Any]], *, timeout: Timeout = DEFAULT) -> bool:
        """Report requests whose cache was sent: ``[[request_id, status], ...]``, usually one. One round trip.

        Every pair is tried, also after one that came too late; ``timeout`` is for all of them together.

        Returns True when every rank has now reported the last of them. Raises as
        :meth:`put_connect_rdma_task_response`; ConfigError when the list is empty or malformed (then nothing was put).
        """
        name = "put_finished_req"
        results = _pairs(send_cache_result)
        if not results:
            raise ConfigError(f"{name}: expected [[request_id, status], ...] with at least one pair", operation=name)
        keys = [request_key(result[0], name) for result in results]
        return self._answers_all("send_cache", keys, results, timeout, name)

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
        if isinstance(req_ids, (str, bytes)) or not isinstance(req_ids, Iterable) or not (ids := list(req_ids)):
            raise ConfigError(f"{name}: expected a list with at least one request id", operation=name)
        return self._answer("add_cache", ids, ids, timeout, name)

    def get_finished_add_cache_task_req(self, *, timeout: Timeout = 0.0, round_timeout: Timeout = DEFAULT) -> list[Any]:
        """Collect a list of request ids that every rank has reported, or ``[]`` when none is complete.

        Ranks that report different lists are in different rounds: each ends after ``round_timeout`` with an error
        that names the list and the ranks which have not reported it.

        Raises as :meth:`get_connect_rdma_task_response`.
        """
        ids = self._collect("add_cache", first_of_equal, timeout, round_timeout, "get_finished_add_cache_task_req")
        return ids if ids is not None else []

    # -- disaggregated requests ----------------------------------------------------------------------------------

    def put_disaggregated_tasks(self, item: Any) -> None:
        """Queue an item for whoever asks first. Never waits."""
        self._act("disaggregate", "put", self._pickle(item, "put_disaggregated_tasks"), "put_disaggregated_tasks")

    def get_disaggregated_tasks(self) -> list[Any] | None:
        """Take all queued items, oldest first; None when there is none. Atomic, also with several takers.

        Raises:
            PayloadError: An item was taken and cannot be unpickled here. It is lost, and no other: what was taken
                with it is returned first, and the next call of this handle raises.
        """
        name = "get_disaggregated_tasks"
        self._use(name)
        if self._unreadable:
            raise self._unreadable.popleft()
        items = []
        for payload in self._act("disaggregate", "take", 1 << 30, name):
            try:
                items.append(self._unpickle(payload, name))
            except PayloadError as error:
                self._unreadable.append(error)
        if self._unreadable and not items:
            raise self._unreadable.popleft()
        return items or None

    def disaggregate_queue_empty(self) -> bool:
        """Return True when no item is queued."""
        return not self._view("disaggregate", name="disaggregate_queue_empty")["length"]

    # -- helpers -------------------------------------------------------------------------------------------------

    def _cache_infos(self) -> list[Any]:
        return [info for infos in self._path("cache_info", "cache_infos").items("cache_infos") for info in infos]

    def _answer(self, gate: str, request: object, answer: Any, timeout: Timeout, name: str) -> bool:
        return self._answers_all(gate, [request_key(request, name)], [answer], timeout, name)

    def _answers_all(self, gate: str, keys: list[Any], answers: list[Any], timeout: Timeout, name: str) -> bool:
        limit = timeout_seconds(timeout, name)
        self._use(name)
        if self._role == "producer" or self.client_id < 0:
            raise RankError(
                f"{name}: this handle acts for no rank; use a client with client_id= and without role='producer'",
                operation=name,
            )
        payloads = [self._pickle(answer, name) for answer in answers]
        all_put: bool = self._act(gate, "put_answers", keys, payloads, limit, name, timeout=limit, name=name)
        return all_put

    def _collect(
        self, gate: str, combine: Callable[[list[Any], str], Any], timeout: Timeout, round_timeout: Timeout, name: str
    ) -> Any:
        limit = timeout_seconds(timeout, name)
        round_limit = timeout_seconds(round_timeout, name)
        answers = self._act(gate, "collect", limit, round_limit, name, timeout=limit, name=name)
        if answers is None:
            return None
        unpickled = [self._unpickle(payload, name) for payload in answers]
        try:
            return combine(unpickled, name)
        except FdcommError:
            raise
        except Exception as error:  # comparing and printing of the caller's objects may raise anything
            raise InconsistentAnswersError(
                f"{name}: the answers cannot be combined: {error!r}", operation=name
            ) from error


def _pairs(results: object) -> list[list[Any]]:
    """Return the results as lists of two, or nothing if one is not a pair."""
    if isinstance(results, (str, bytes)) or not isinstance(results, Iterable):
        return []
    pairs = [list(result) if isinstance(result, (list, tuple)) else [] for result in results]
    return pairs if all(len(pair) == 2 for pair in pairs) else []
