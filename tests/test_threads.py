"""Work in threads: every task once, in order, with its error, however the tasks are dealt out."""

from __future__ import annotations

import pytest

from unveil.threads import in_threads


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 97, 1000])
def test_results_come_in_the_order_of_the_tasks(n: int, threads: int) -> None:
    assert in_threads(lambda i: i * i, range(n), threads) == [i * i for i in range(n)]


@pytest.mark.parametrize("threads", [1, 2])
def test_each_task_is_told_when_it_is_done(threads: int) -> None:
    told: list[tuple[int, int]] = []
    in_threads(abs, range(200), threads, lambda count, task: told.append((count, task)))
    assert [count for count, _ in told] == list(range(1, 201))
    assert sorted(task for _, task in told) == list(range(200))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_one_of_many_tasks_is_raised(threads: int) -> None:
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda i: 1 // (i - 700), range(1000), threads)
