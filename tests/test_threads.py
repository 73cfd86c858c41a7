"""Work in threads: every task once, in order, with its error, however the tasks are dealt out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from unveil.models import logit
from unveil.models.logit import fit_logistic
from unveil.threads import in_threads, one_blas_thread


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


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_products_take_one_thread_and_then_as_many_as_before() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        assert blas_threads() == {2}
        with one_blas_thread():
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == {2}
        with pytest.raises(ZeroDivisionError):
            one_blas_thread()(lambda: 1 // 0)()
        assert blas_threads() == {2}


def test_a_regression_is_fitted_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[int]] = []
    gram = logit.gram
    monkeypatch.setattr(logit, "gram", lambda *given: seen.append(blas_threads()) or gram(*given))
    with threadpool_limits(limits=2, user_api="blas"):
        fit_logistic(sparse.csr_matrix(np.ones((4, 1))), np.array([0.0, 1.0, 1.0, 0.0]))
    assert seen
    assert set.union(*seen) == {1}
