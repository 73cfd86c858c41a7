"""Work in threads, with results that do not depend on their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from importlib import import_module
from typing import TypeVar

from unveil.checks import check_whole_numbers

T = TypeVar("T")
R = TypeVar("R")
_SHARES = 16
"""Parts that many tasks are dealt out in, per thread: enough that none waits long for the last."""


def n_threads(n_jobs: int | None) -> int:
    """Number of threads: all that this process may use for None or -1.

    Raises
    ------
    CallError
        If the number is out of range.

    Examples
    --------
    >>> n_threads(3)
    3
    """
    if n_jobs is None or n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    check_whole_numbers(1, n_jobs=n_jobs)
    return int(n_jobs)


def in_threads(
    work: Callable[[T], R], tasks: Sequence[T], threads: int, done: Callable[[int, T], None] | None = None
) -> list[R]:
    """Results of the tasks in their order, whatever the number of threads.

    Parameters
    ----------
    work
        The work.
    tasks
        What it is done for.
    threads
        Number of threads.
    done
        Called from the calling thread with the number of tasks done and the task just done.

    Examples
    --------
    >>> in_threads(abs, [-2, 1], 2)
    [2, 1]
    """
    if min(threads, len(tasks)) <= 1:
        results = []
        for i, task in enumerate(tasks):
            results.append(work(task))
            if done:
                done(i + 1, task)
        return results
    # Handing a task over costs as much as growing a small tree: many small ones go together.
    size = 1 if done else max(1, len(tasks) // (_SHARES * threads))
    shares = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    with ThreadPoolExecutor(threads) as pool:
        futures = {pool.submit(lambda share: [work(task) for task in share], share): share for share in shares}
        for i, future in enumerate(as_completed(futures)):
            error = future.exception()
            if error is not None:
                pool.shutdown(cancel_futures=True)
                raise error
            if done:
                done(i + 1, futures[future][0])
    return [result for future in futures for result in future.result()]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Products of matrices take one thread while this lasts: in a ``with``, or as a decorator with brackets.

    The matrices of the models here are small: more threads wait for each other longer than they work, all the more on a
    machine that has other work, and they change the last digit.

    Examples
    --------
    >>> with one_blas_thread():
    ...     len([1, 2])
    2
    """
    with import_module("threadpoolctl").threadpool_limits(limits=1, user_api="blas"):
        yield
