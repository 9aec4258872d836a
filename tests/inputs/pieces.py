"""Pieces of which memory files of any kind are put together, and what must become of them.

A line that holds GOES belongs to an entry that has expired on the day of these tests, one that
holds STAYS does not; one that holds neither says nothing about it. A file of whole pieces, one
behind the other in any order, keeps exactly the lines without GOES.
"""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from agent_memfas.text.documents import split

BOM = b"\xef\xbb\xbf"
LIVING = ["[P0]", "[P0][2020-01-01]", "[P1]", "[P1][2026-02-20]", "[P2][2026-02-01]",
          "[P1][2026-02-30]", "[P2][2020-01-01][until:2026-12-31]", "[P1][9999-12-31]",
          "[P2][2020-01-01][ttl:9999d]", "[P1][2020-01-01][ttl:soon]"]  # fmt: skip
EXPIRED = ["[P1][2020-01-01]", "[P2][2026-01-01]", "[P1][2026-02-20][ttl:2d]",
           "[P1][2024-02-29] [ttl:1w]", "[P2][2020-01-01][superseded:2021-01-01]"]  # fmt: skip
NEARLY = ["- [p1][2020-01-01] STAYS", "* [P1][2020-01-01] STAYS", "-[P1][2020-01-01] STAYS",
          "- [ ][P1][2020-01-01] STAYS", "- [P3][2020-01-01] STAYS", "- [P1] [2020-01-01] STAYS",
          "1. [P2][2020-01-01] STAYS", "- [P1][2020/01/01] STAYS"]  # fmt: skip
UNDER = ["", "  goes on {}\n", "\tby a tab {}\n", "  - nested {}\n    - deeper {}\n",
         "\n  after a blank {}\n", "  ```\n  - [P0] in a fence {}\n\n  ```\n", "  > quoted {}\n",
         "  <!-- a comment {} -->\n", "  - [P2][2020-01-01] {}\n", "      code {}\n",
         "  a\0b {}\n", "  é 部署 👨‍👩‍👧 {}\n", "  odd \u2028 \x0b \x85 {}\n"]  # fmt: skip
TEXTS = ["# Heading\n", "## A > b -- c\n\n", "Prose.\n", "\n", "\n\n", "- untagged STAYS\n",
         "- untagged\n  - [P2][2020-01-01] STAYS\n", "1. one\n2. two\n", "---\n", "* * *\n",
         "a | b\n--|--\n", "[ref]: http://example.com\n", "- [P1](http://example.com) STAYS\n",
         "- [ ] task STAYS\n", "text \\\n", "   \n", "\t\n", "&nbsp;\n", "Setext\n======\n"]  # fmt: skip
EXAMPLE = "- [P1][2020-01-01] STAYS\n"
REGIONS = [f"```\n{EXAMPLE}```\n", f"~~~~ md\n~~~\n{EXAMPLE}\n~~~~\n", f"# H\n\n    {EXAMPLE}\n",
           f"<!--\n{EXAMPLE}\n{EXAMPLE}-->\n", f"<pre>\n{EXAMPLE}</pre>\n\n",
           f"<details>\n\n{EXAMPLE}\n</details>\n\n", f"> {EXAMPLE}> more\n\n",
           f"<div>\n{EXAMPLE}</div>\n\n"]  # fmt: skip
OPENERS = ["```\n", "~~~~\n", "<!-- open\n", "<pre>\n", "<details>\n\n", "`````sh\n"]
JUNK = [b"caf\xe9\n", b"\xff\xfe\n", b"\xed\xa0\x80 x\n", b"\0\0\n", b"\r\r\n", b"\x1b[31m\n",
        b"\xe2\x80", b"- [P1][2020-01-01] \xe9\r"]  # fmt: skip


def entry(tags: str, under: str, word: str) -> bytes:
    return f"- {tags} {word}\n{under.replace('{}', word)}".encode()


LEAVING = [entry(t, u, "GOES") for t, u in itertools.product(EXPIRED, UNDER)]
KEEPING = [entry(t, u, "STAYS") for t, u in itertools.product(LIVING, UNDER)]
KEPT_BY_A_CHILD = [
    entry(t, f"  - {child} {{}}\n", "STAYS") for t in EXPIRED for child in LIVING[:6]
]
STAYING = [*KEEPING, *KEPT_BY_A_CHILD, *(f"{n}\n".encode() for n in NEARLY)]
NEUTRAL = [text.encode() for text in [*TEXTS, *REGIONS]]
ANY = [*LEAVING, *STAYING, *NEUTRAL, *(o.encode() for o in OPENERS), *JUNK]

CHOICE = st.one_of(
    st.sampled_from(LEAVING),
    st.sampled_from(STAYING),
    st.sampled_from(NEUTRAL),
)
WHOLE = st.lists(CHOICE, max_size=12)


def finish(pieces: list[bytes], ends: str, last: bool, marked: bool) -> bytes:
    """The pieces as a file: with LF, CRLF or both, a last line end or none, a mark or none."""
    data = b"".join(pieces)
    if ends == "crlf":
        data = data.replace(b"\n", b"\r\n")
    elif ends == "mixed":
        lines = split(data)
        data = b"".join(n if k % 3 else n.replace(b"\n", b"\r\n") for k, n in enumerate(lines))
    if not last:
        data = data.rstrip(b"\r\n")
    return BOM + data if marked else data


FILES = st.builds(
    finish, WHOLE, st.sampled_from(["lf", "lf", "crlf", "mixed"]), st.booleans(), st.booleans()
)
"""Files of whole pieces, in which it is known of each line whether it leaves."""

SOUP = st.builds(
    finish,
    st.lists(st.one_of(CHOICE, st.sampled_from(ANY), st.binary(max_size=12)), max_size=10),
    st.sampled_from(["lf", "crlf", "mixed"]),
    st.booleans(),
    st.booleans(),
)
"""Files of pieces that nobody has closed, junk and noise: nothing is known but the rules."""

MARKUP = st.lists(
    st.sampled_from(
        ["<!--", "-->", "`", "``", "```", "~~~", "<pre>", "</pre>", "<details>", "</details>",
         "<script>", "\n", "\r", "\r\n", "\u2028", "\x85", "\x0b", "\0", "\t", " ", "- [P0] x",
         "- [P1][2020-01-01] x", "# h", "> q", "---", "[P0]", "[ttl:1d]", "[until:2000-01-01]",
         "(", ")", "\\", "&", "a", "b c", "é", "部署", "\udce9", "&lt;!--", "<", "!", "--",
         "<!-- trigger: x -->", "<!-- /janitor x -->", "===", "1. ", "* ", "\u202e", "\x1b[2J"]
    ),
    max_size=9,
).map("".join)  # fmt: skip
TEXT = st.one_of(MARKUP, MARKUP, st.text(max_size=30))
"""Texts that somebody may want to have added, the worst of them built from markup."""
