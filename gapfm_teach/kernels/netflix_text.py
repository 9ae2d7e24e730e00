"""Reading the Netflix Prize's text as bytes, and sorting its ratings by user.

Users are counted and found by their ids here: 2,649,430 counters are cheaper than a look-up.
The kernels hold no lock while they run, so plain threads may call them side by side.
"""

from .jit import jit

_NEWLINE, _RETURN, _TAB, _SPACE = 10, 13, 9, 32
_COMMA, _HYPHEN, _ZERO, _COLON = 44, 45, 48, 58
_DATE = 10  # characters of YYYY-MM-DD


@jit(nogil=True)
def _is_date(text, at):
    """Whether YYYY-MM-DD stands at `at`, by its shape."""
    if at + _DATE > text.shape[0]:
        return False
    for place in range(_DATE):
        character = text[at + place]
        if place == 4 or place == 7:
            if character != _HYPHEN:
                return False
        elif character < _ZERO or character > _ZERO + 9:
            return False
    return True


@jit(nogil=True)
def _next_line(text, at):
    """Where the next line begins, if only blanks stand between `at` and it; -1 if not."""
    while at < text.shape[0]:
        character = text[at]
        at += 1
        if character == _NEWLINE:
            return at
        if character != _RETURN and character != _SPACE and character != _TAB:
            return -1
    return at


@jit(nogil=True)
def parse_lines(text, graded, begun, limits, users, grades, movies, firsts, lines, places):
    """Read lines "MOVIE:" and, below them, "USER,GRADE,YYYY-MM-DD", or "USER" if not `graded`.

    text : (n,) bytes, whole lines; only the last one may lack its newline. Blank lines and
        blanks at the end of a line, a carriage return among them, are passed over.
    begun : whether a movie's header came before `text`.
    limits : highest user and movie id, at most 7 digits each; the lowest is 1.
    users, grades : filled, an entry a rating.
    movies, firsts, lines, places : filled, an entry a header: its movie, how many ratings and
        how many lines came before, and where its line begins.

    Returns (ratings, headers, lines, bad): lines read, and where the first bad one begins,
    or -1.
    """
    n_ratings, n_headers, n_lines, at = 0, 0, 0, 0
    while at < text.shape[0]:
        line = at
        number, is_header = 0, False
        while at < text.shape[0] and _ZERO <= text[at] <= _ZERO + 9:
            number = 10 * number + (text[at] - _ZERO)
            at += 1
        width = at - line
        if width > 7:
            return n_ratings, n_headers, n_lines, line
        if width > 0 and at < text.shape[0] and text[at] == _COLON:
            if number < 1 or number > limits[1]:
                return n_ratings, n_headers, n_lines, line
            is_header = True
            movies[n_headers] = number
            firsts[n_headers] = n_ratings
            lines[n_headers] = n_lines
            places[n_headers] = line
            at += 1
        elif width > 0:
            if number < 1 or number > limits[0] or not (begun or n_headers > 0):
                return n_ratings, n_headers, n_lines, line
            if graded:
                if not (_is_date(text, at + 3) and text[at] == text[at + 2] == _COMMA):
                    return n_ratings, n_headers, n_lines, line
                grade = text[at + 1] - _ZERO
                if grade < 1 or grade > 5:
                    return n_ratings, n_headers, n_lines, line
                grades[n_ratings] = grade
                at += 3 + _DATE
            users[n_ratings] = number
            n_ratings += 1
        at = _next_line(text, at)
        if at < 0:
            return n_ratings, n_headers, n_lines, line
        n_headers += is_header
        n_lines += 1
    return n_ratings, n_headers, n_lines, -1


@jit(nogil=True)
def mark_wanted(users, marks):
    """Set marks[user] = 1; returns the first place in `users` that repeats one, or -1."""
    for place in range(users.shape[0]):
        if marks[users[place]] != 0:
            return place
        marks[users[place]] = 1
    return -1


@jit(nogil=True)
def hold_out_marked(users, grades, marks):
    """Make the grades of marked users negative, and their marks 2.

    Of a user who stands here twice both grades are, so that `split_rows` finds the repetition.
    """
    for place in range(users.shape[0]):
        if marks[users[place]] != 0:
            grades[place] = -grades[place]
            marks[users[place]] = 2


@jit(nogil=True)
def count_users(users, counts):
    """Add to counts[user] the number of its ratings."""
    for place in range(users.shape[0]):
        counts[users[place]] += 1


@jit(nogil=True)
def place_by_user(firsts, first_item, users, grades, ends, packed):
    """Move ratings, sorted by item, each to the end of its user's row.

    firsts : item first_item + k has the ratings firsts[k] to firsts[k + 1] - 1.
    ends : (users,) where each user's row in `packed` ends so far; moved on.
    packed : filled with 16 item + grade, and 8 more when the grade is negative: one write to a
        distant place instead of two.
    """
    for k in range(firsts.shape[0] - 1):
        item = 16 * (first_item + k)
        for place in range(firsts[k], firsts[k + 1]):
            grade = grades[place]
            packed[ends[users[place]]] = item + (grade if grade > 0 else 8 - grade)
            ends[users[place]] += 1


@jit(nogil=True)
def split_rows(indptr, packed, kept, grades, held, held_indices, held_grades):
    """Unpack the rows of `place_by_user`; the ratings with a negative grade go elsewhere.

    indptr : (rows + 1,) where the rows stand in `packed`, whose beginning is overwritten with
        the items of the ratings that stay; `kept` and `held`, (rows + 1,), are filled with
        where the rows stand afterwards.

    Returns the first place in `packed` whose item its row has already, with nothing more done,
    or -1.
    """
    n_kept, n_held = 0, 0
    kept[0], held[0] = 0, 0
    for row in range(indptr.shape[0] - 1):
        previous = -1
        for place in range(indptr[row], indptr[row + 1]):
            item, grade = packed[place] >> 4, packed[place] & 7
            if item == previous:
                return place
            previous = item
            if packed[place] & 8:
                held_indices[n_held] = item
                held_grades[n_held] = grade
                n_held += 1
            else:
                packed[n_kept] = item
                grades[n_kept] = grade
                n_kept += 1
        kept[row + 1] = n_kept
        held[row + 1] = n_held
    return -1
