"""Compiled code of the Netflix simulation: who rates what, how it is graded, and the lines.

Unlike everywhere else random numbers are drawn here, because how many a user needs is not known
beforehand. Every user has a seed of their own, so the result is the same for any number of
threads and does not depend on numba's generator, which nobody can seed from outside.
"""

import numpy as np

from gapfm_teach.kernels.jit import jit

RACE_AFTER = 4  # so many proposals for each movie there is; then the rest is drawn at once
SCORE_STEPS = 2**16
SCORE_RANGE = 8.0  # scores from -8 to 8, of standard deviation 1, fill the steps
PROBE_FLAG = np.uint16(1 << 15)  # beside the day, which needs 12 bits

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_COLON, _COMMA, _NEWLINE, _ZERO = 58, 44, 10, 48


@jit()
def _word(state):
    """The 64 random bits of a counter (the finaliser of SplitMix64)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@jit()
def _uniform(state):
    """A number inside (0, 1): neither end, so that its logarithm is finite."""
    return (np.float64(_word(state) >> np.uint64(12)) + 0.5) * 2.0**-52


@jit()
def _taste(u, v):
    total = np.float32(0.0)
    for d in range(u.shape[0]):
        total += u[d] * v[d]
    return total


@jit()
def _acceptance(taste, sharpness, shift):
    return 1.0 / (1.0 + np.exp(shift - sharpness * taste))


@jit()
def _propose(chosen, n, coin, alias, u, V, sharpness, shift, state, seen):
    """Fill `chosen[n:]` with movies met by popularity and accepted by taste.

    Stops when full or out of patience; returns how many are chosen and the random state.
    """
    n_movies = coin.shape[0]
    for _ in range(RACE_AFTER * n_movies):
        if n == chosen.shape[0]:
            break
        state += _GOLDEN
        word = _word(state)
        movie = np.int64(((word >> np.uint64(32)) * np.uint64(n_movies)) >> np.uint64(32))
        if (word & np.uint64(0xFFFFFFFF)) * 2.0**-32 >= coin[movie]:
            movie = np.int64(alias[movie])
        if seen[movie]:
            continue
        state += _GOLDEN
        if _uniform(state) < _acceptance(_taste(u, V[movie]), sharpness, shift):
            seen[movie] = True
            chosen[n] = movie
            n += 1
    return n, state


@jit()
def _race(chosen, n, weights, u, V, sharpness, shift, state, seen):
    """Fill `chosen[n:]` from the unseen movies, in the order in which proposals would come.

    A movie's first accepted proposal comes after an exponential waiting time; such times have
    no memory, so drawing them afresh for the movies that are left changes no probability.
    """
    waits = np.empty(seen.shape[0])
    for movie in range(seen.shape[0]):
        state += _GOLDEN
        accepted = _acceptance(_taste(u, V[movie]), sharpness, shift)
        wait = -np.log(_uniform(state)) / (weights[movie] * accepted)
        waits[movie] = np.inf if seen[movie] else wait
    chosen[n:] = np.argsort(waits)[: chosen.shape[0] - n]
    return state


@jit()
def _shuffle(chosen, state):
    for last in range(chosen.shape[0] - 1, 0, -1):
        state += _GOLDEN
        other = int(_uniform(state) * (last + 1))
        chosen[last], chosen[other] = chosen[other], chosen[last]


@jit(nogil=True)
def choose_movies(
    begin, end, indptr, n_fixed, weights, coin, alias, U, V, sharpness, shift, seeds, movies
):
    """For users begin..end - 1 fill `movies[indptr[m]:indptr[m + 1]]`, user m's distinct movies in the order of rating.

    The first `n_fixed[m]` places are filled already and stay among them. `coin` and `alias`
    are the alias table of `weights`: movie i is proposed with probability proportional to
    weights[i] and accepted with probability g(sharpness <U_m, V_i> - shift).
    """
    seen = np.zeros(weights.shape[0], np.bool_)
    for m in range(begin, end):
        chosen = movies[indptr[m] : indptr[m + 1]]
        for movie in chosen[: n_fixed[m]]:
            seen[movie] = True
        state = seeds[m]
        n, state = _propose(
            chosen, n_fixed[m], coin, alias, U[m], V, sharpness, shift, state, seen
        )
        if n < chosen.shape[0]:
            state = _race(chosen, n, weights, U[m], V, sharpness, shift, state, seen)
        _shuffle(chosen, state)
        for movie in chosen:
            seen[movie] = False


@jit(nogil=True)
def score_choices(
    begin, end, indptr, movies, U, V, bias_u, bias_v, taste, noise, seeds, steps
):
    """The step of the score of each rating by users begin..end - 1: biases, `taste` <U_m, V_i> and
    logistic noise."""
    scale = SCORE_STEPS / (2.0 * SCORE_RANGE)
    for m in range(begin, end):
        state = seeds[m]
        for k in range(indptr[m], indptr[m + 1]):
            state += _GOLDEN
            p = _uniform(state)
            score = bias_u[m] + bias_v[movies[k]] + taste * _taste(U[m], V[movies[k]])
            score += noise * np.log(p / (1.0 - p))
            step = np.floor((score + SCORE_RANGE) * scale)
            steps[k] = np.uint16(min(max(step, 0.0), SCORE_STEPS - 1.0))


@jit()
def group_by_movie(
    indptr,
    movies,
    steps,
    grade_of_step,
    ids,
    joined,
    left,
    n_probe,
    ends,
    users,
    grades,
    days,
):
    """Sort the ratings by movie; within one they keep the order of users.

    On entry `ends[i]` says where movie i's ratings begin in `users`, `grades` and `days`; on
    return, where they end. A user's ratings lie between the days `joined` and `left`, never
    back in time; the last `n_probe[m]` of them carry PROBE_FLAG.
    """
    for m in range(ids.shape[0]):
        n = indptr[m + 1] - indptr[m]
        for k in range(n):
            place = indptr[m] + k
            at = ends[movies[place]]
            ends[movies[place]] += 1
            users[at] = ids[m]
            grades[at] = grade_of_step[steps[place]]
            day = joined[m] + (left[m] - joined[m]) * (2 * k + 1) // (2 * n)
            days[at] = np.uint16(day)
            if k >= n - n_probe[m]:
                days[at] |= PROBE_FLAG


@jit()
def count(values, counts):
    """Add to counts[value] how often it comes; np.bincount would copy `values` as int64."""
    for value in values:
        counts[value] += 1


@jit()
def _put_number(number, out, at):
    """Write `number` in decimal digits at out[at:]; return the place after it."""
    length = 1
    rest = number // 10
    while rest:
        length += 1
        rest //= 10
    for place in range(at + length - 1, at - 1, -1):
        out[place] = _ZERO + number % 10
        number //= 10
    return at + length


@jit()
def _put_movie(movie, out, at):
    at = _put_number(movie, out, at)
    out[at] = _COLON
    out[at + 1] = _NEWLINE
    return at + 2


@jit()
def rating_lines(first, last, indptr, users, grades, days, date_text, out):
    """Write `MOVIE:` and its lines `USER,GRADE,DATE` for movies first to last - 1.

    Movie i is number i + 1 in the file. Returns how many bytes of `out` were filled.
    """
    at = 0
    for movie in range(first, last):
        at = _put_movie(movie + 1, out, at)
        for k in range(indptr[movie], indptr[movie + 1]):
            at = _put_number(users[k], out, at)
            out[at] = _COMMA
            out[at + 1] = _ZERO + grades[k]
            out[at + 2] = _COMMA
            date = date_text[days[k] & ~PROBE_FLAG]
            for place in range(date.shape[0]):
                out[at + 3 + place] = date[place]
            at += 3 + date.shape[0]
            out[at] = _NEWLINE
            at += 1
    return at


@jit()
def probe_lines(order, indptr, users, days, out):
    """Write `MOVIE:` and its lines `USER` for the movies of `order` with ratings in the probe.

    Returns how many bytes of `out` were filled.
    """
    at = 0
    for movie in order:
        begun = False
        for k in range(indptr[movie], indptr[movie + 1]):
            if days[k] & PROBE_FLAG:
                if not begun:
                    at = _put_movie(movie + 1, out, at)
                    begun = True
                at = _put_number(users[k], out, at)
                out[at] = _NEWLINE
                at += 1
    return at
