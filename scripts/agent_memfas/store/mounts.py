"""Where a file system does not tell what happens to its files, and how much Linux is told of."""

from __future__ import annotations

import os
import re

# What another host, or the other side of a virtual machine, changes in these gives no event here.
SILENT = frozenset({
    "9p", "afs", "ceph", "cifs", "drvfs", "fakeowner", "glusterfs", "lustre", "ncpfs", "nfs",
    "nfs4", "osxfs", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
})  # fmt: skip
_TABLE = "/proc/self/mountinfo"
_DESCRIPTORS = "/proc/self/fdinfo"
_ESCAPE = re.compile(r"\\([0-7]{3})")


def silent_kind(root: str, table: str = _TABLE) -> str:
    """The type of a file system, of a folder or mounted inside it, that does not tell of every
    change; "" where each of them does, or where the system has no such table.

    root: the folder's real path.
    """
    try:
        with open(table, "rb") as file:
            lines = os.fsdecode(file.read()).splitlines()
    except OSError:
        return ""
    mounted: dict[str, str] = {}
    for line in lines:
        left, _, right = line.partition(" - ")
        fields, kind = left.split(" "), right.partition(" ")[0]
        if len(fields) > 4 and kind:
            mounted[_ESCAPE.sub(lambda m: chr(int(m[1], 8)), fields[4])] = (
                kind  # the last is on top
            )
    around = max((p for p in mounted if _is_in(root, p)), key=len, default="")
    inside = [p for p in mounted if p != around and _is_in(p, root)]
    kinds = [mounted[path] for path in ([around] if around else []) + inside]
    return next((kind for kind in kinds if kind in SILENT or kind.startswith("fuse")), "")


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def watches() -> int | None:
    """How many folders this process has inotify watches on; None where the system does not say."""
    count = 0
    try:
        names = os.listdir(_DESCRIPTORS)
    except OSError:
        return None
    for name in names:
        try:
            with open(f"{_DESCRIPTORS}/{name}", "rb") as file:
                count += sum(line.startswith(b"inotify ") for line in file)
        except OSError:
            continue  # it was closed meanwhile
    return count
