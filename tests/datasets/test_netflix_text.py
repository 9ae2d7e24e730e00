"""The Netflix parser against one that reads line by line, with regular expressions."""

import io
import re
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from gapfm_teach.datasets.netflix import parse
from gapfm_teach.datasets.netflix.parse import read_ratings

HEADER = re.compile(rb"(\d{1,7}):[ \t\r]*")
RATING = re.compile(rb"(\d{1,7}),([1-5]),\d{4}-\d\d-\d\d[ \t\r]*")


def read_by_line(text):
    """(user, movie, grade) of each rating, and the numbers of the bad lines.

    Bad is a movie's second header, too."""
    movie, found, began, bad = 0, [], set(), []
    text = text.removeprefix(b"\xef\xbb\xbf")
    for number, line in enumerate(text.split(b"\n"), start=1):
        header, rating = HEADER.fullmatch(line), RATING.fullmatch(line)
        if header and 1 <= int(header[1]) <= 17_770:
            movie = int(header[1])
            if movie in began:
                bad.append(number)
            began.add(movie)
        elif rating and movie and 1 <= int(rating[1]) <= 2_649_429:
            found.append((int(rating[1]), movie, int(rating[2])))
        elif line.strip(b" \t\r"):
            bad.append(number)
    return found, bad


def read_in_blocks(text, block):
    with mock.patch.object(parse, "BLOCK", block):
        try:
            segments = read_ratings("file", io.BytesIO(text), {}, 0)
        except ValueError as error:
            return int(re.match(r"file, line (\d+): ", str(error))[1])
    return [
        (user, segment.movie, grade)
        for segment in segments
        for user, grade in zip(segment.users.tolist(), segment.grades.tolist(), strict=True)
    ]


WIDTH = st.integers(1, 7)  # with leading zeros
DATE = st.sampled_from([b"2005-09-06", b"9999-99-99"])
HEADERS = st.builds(
    lambda movie, width: b"%0*d:" % (width, movie), st.integers(1, 17_770), WIDTH
)
RATINGS = st.builds(
    lambda user, grade, date, width: b"%0*d,%d,%s" % (width, user, grade, date),
    st.integers(1, 2_649_429), st.integers(1, 5), DATE, WIDTH,
)  # fmt: skip
ODD = st.sampled_from(
    [
        b"17771:", b"0:", b"1 :", b" 1:", b"1:2", b":", b"00000001:", b"\xef\xbb\xbf1:",
        b"2649430,4,2005-09-06", b"2147483649,4,2005-09-06", b"4294967297,4,2005-09-06",
        b"18446744073709551617,4,2005-09-06", b"+5,4,2005-09-06", b"-5,4,2005-09-06",
        b"5,0,2005-09-06", b"5,6,2005-09-06", b"5,10,2005-09-06", b"5,-1,2005-09-06",
        b"5,4,2005-9-06", b"5,4,20050906", b"5,4,garbage", b"5,4", b"5", b"5,4,2005-09-06x",
        b"5,4,2005-09-06 x", b"5,4,2005-09-06\v", b"5,\xb2,2005-09-06", b"\0",
    ]
)  # fmt: skip
BLANK = st.sampled_from([b"", b" ", b"\t\r", b" " * 40])
ENDS = st.sampled_from([b"", b"\r", b"\t  "])
BELOW = st.lists(st.builds(lambda line, end: line + end, RATINGS | BLANK, ENDS), max_size=6)
MOVIES = st.builds(
    lambda header, end, rating, below: [header + end, rating, *below],
    HEADERS, ENDS, RATINGS | RATINGS | RATINGS | BLANK, BELOW,
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    movies=st.lists(MOVIES, max_size=4),
    odd=st.lists(ODD | HEADERS | st.binary(max_size=20), max_size=1),
    end=st.sampled_from([b"", b"\n"]),
    block=st.integers(1, 60),
    data=st.data(),
)
def test_blocks_are_read_like_lines(movies, odd, end, block, data):
    lines = [line for movie in movies for line in movie]
    for line in odd:
        lines.insert(data.draw(st.integers(0, len(lines))), line)
    text = b"\n".join(lines) + end or b"\n"  # an empty file is refused
    found, (expected, bad) = read_in_blocks(text, block), read_by_line(text)
    assert found in bad if bad else found == expected
