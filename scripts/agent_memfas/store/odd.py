"""Links, and files with several names: which of them count, and under which name."""

from __future__ import annotations

import os
from collections.abc import Callable
from stat import S_ISLNK, S_ISREG

from agent_memfas.store.listing import Signature, Skipped, signature_of
from agent_memfas.store.places import STATE


def resolve(
    root: str,
    odd: list[tuple[str, os.stat_result]],
    is_listed: Callable[[str], bool],
    skipped: list[Skipped],
) -> dict[str, Signature]:
    """Each of these files that counts, under the first of its names, with its signature."""
    found, identities = dict[str, Signature](), dict[tuple[int, int], str]()
    for path, info in [o for o in odd if not S_ISLNK(o[1].st_mode)]:
        if not S_ISREG(info.st_mode):
            skipped.append(Skipped(path, "not a regular file"))
        elif (twin := identities.setdefault((info.st_dev, info.st_ino), path)) != path:
            skipped.append(Skipped(path, f"another name of {twin}"))
        else:
            found[path] = signature_of(info)
    for path, _ in [o for o in odd if S_ISLNK(o[1].st_mode)]:
        real = os.path.realpath(os.path.join(root, path))
        inside = os.path.relpath(real, root)
        if inside.startswith("..") or inside.partition("/")[0] == STATE:
            skipped.append(Skipped(path, "a symbolic link out of the memory folder"))
            continue
        try:
            info = os.lstat(real)
        except OSError as error:
            skipped.append(Skipped(path, os.strerror(error.errno or 0)))
            continue
        if not S_ISREG(info.st_mode):
            skipped.append(Skipped(path, "a symbolic link to no regular file"))
        elif is_listed(inside):
            skipped.append(Skipped(path, f"another name of {inside}"))
        elif (twin := identities.setdefault((info.st_dev, info.st_ino), path)) != path:
            skipped.append(Skipped(path, f"another name of {twin}"))
        else:
            found[path] = signature_of(info)
    return found
