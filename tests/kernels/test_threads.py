"""Work shared out among threads: all of it is done, once, and errors come back."""

import threading

import pytest

from gapfm_teach import kernels


@pytest.mark.parametrize("n_threads", [1, 2, 3, 64])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 64])
def test_the_parts_are_all_the_work_and_nothing_twice(n, n_threads):
    done, parts, extra = [], [], object()

    def kernel(begin, end, argument):
        assert argument is extra
        parts.append((begin, end))
        done.extend(range(begin, end))

    with kernels.using_threads(n_threads):
        kernels.parallel_for(kernel, n, extra)
    assert sorted(done) == list(range(n))
    assert len(parts) == max(1, min(n, n_threads))
    sizes = [end - begin for begin, end in parts]
    assert max(sizes) - min(sizes) <= 1


def test_parts_run_side_by_side():
    """Each waits for the other: one after the other, they would wait for ever."""
    if kernels.MOST_THREADS < 2:
        pytest.skip("a single thread is all there is here")
    both = threading.Barrier(2, timeout=60)
    with kernels.using_threads(2):
        kernels.parallel_for(lambda begin, end: both.wait(), 2)


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_error_in_any_part_is_raised_and_the_next_work_is_done(bad):
    def kernel(begin, end):
        if begin <= bad < end:
            raise ZeroDivisionError

    with kernels.using_threads(3):
        with pytest.raises(ZeroDivisionError):
            kernels.parallel_for(kernel, 3)
        kernels.parallel_for(lambda begin, end: None, 3)


def test_the_number_of_threads_is_put_back():
    def fail():
        with kernels.using_threads(7):
            assert kernels.n_threads() == 7
            raise ZeroDivisionError

    before = kernels.n_threads()
    with kernels.using_threads(5):
        with pytest.raises(ZeroDivisionError):
            fail()
        assert kernels.n_threads() == 5
    assert kernels.n_threads() == before
