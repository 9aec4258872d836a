r"""JSON's escapes: `\u6570\u636e` is how many programs write 数据 into a file."""

from __future__ import annotations

HEX = frozenset("0123456789abcdefABCDEF")


def unescaped(text: str) -> str:
    r"""`text` with each `\uXXXX` as the character that it stands for (two for one beyond U+FFFF).

    Linear; whatever is no such escape stays as it is.
    """
    head, *parts = text.split("\\u")
    out = [head]
    for part in parts:
        code = part[:4]
        is_escape = len(code) == 4 and HEX.issuperset(code)
        out.append(chr(int(code, 16)) + part[4:] if is_escape else "\\u" + part)
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
