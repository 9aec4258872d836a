"""A real browser that lays a page out at two widths and tells what it sees."""

from __future__ import annotations

import html
import json
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PHONE, DESK, HEIGHT = 360, 1280, 1000

# Each page stands in a frame as wide as a phone and in one as wide as a desk. Frames of srcdoc are
# of our origin, so that this page may look into them; what runs in them may look out likewise.
_PROGRAM = """
function seen(frame) {
  const page = frame.contentDocument, root = page.documentElement, all = [...page.querySelectorAll('*')];
  page.querySelectorAll('details').forEach(one => { one.open = true; });
  const inside = all.filter(one => !one.closest('.scroll') && !one.closest('svg'));
  const box = one => { const b = one.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]; };
  return {
    width: root.clientWidth, needs: root.scrollWidth, text: page.body.innerText,
    wide: inside.filter(one => box(one)[1] > root.clientWidth + 0.5).map(one => one.outerHTML.slice(0, 80)),
    small: [...page.querySelectorAll('main *')].filter(one => one.childNodes.length
      && parseFloat(frame.contentWindow.getComputedStyle(one).fontSize) < 12).length,
    charts: [...page.querySelectorAll('svg.chart')].map(one => ({
      box: box(one), name: one.getAttribute('aria-label'),
      words: [...one.querySelectorAll('text')].map(box),
      marks: [...one.querySelectorAll('rect:not(.ghost), circle, polyline')].map(box),
    })),
    kinds: [...new Set(all.map(one => one.localName))].sort(),
    handlers: all.filter(one => [...one.attributes].some(a => a.name.startsWith('on'))).length,
  };
}
addEventListener('load', () => {
  const found = {ran: window.ran || 0, pages: {}};
  document.querySelectorAll('iframe').forEach(one => { found.pages[one.id] = seen(one); });
  found.ran = window.ran || 0;
  document.getElementById('found').textContent = JSON.stringify(found);
});
"""


@dataclass(frozen=True)
class Seen:
    """What the browser saw. pages: by name and width. ran: scripts of pages that were run.
    picture: a screenshot of the first page at both widths, as PNG.
    """

    pages: Mapping[tuple[str, int], Mapping[str, Any]]
    ran: int
    picture: bytes

    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels."""
        assert self.picture[:8] == b"\x89PNG\r\n\x1a\n"
        return struct.unpack(">II", self.picture[16:24])

    def variety(self) -> int:
        """How many rows of the picture differ from all others; of an empty page next to none."""
        width = self.size()[0]
        data, at = b"", 8
        while at < len(self.picture):
            (length,) = struct.unpack(">I", self.picture[at : at + 4])
            if self.picture[at + 4 : at + 8] == b"IDAT":
                data += self.picture[at + 8 : at + 8 + length]
            at += length + 12
        pixels = zlib.decompress(data)
        row = 1 + width * (3 if self.picture[25] == 2 else 4)
        return len({pixels[n : n + row] for n in range(0, len(pixels), row)})


def browser() -> str | None:
    """The browser of this machine, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


def look(program: str, pages: Mapping[str, str], folder: Path) -> Seen:
    """Open all pages in one start of the browser."""
    frames = "".join(
        f'<iframe id="{name} {width}" width="{width}" height="{HEIGHT}" '
        f'srcdoc="{html.escape(text)}"></iframe>'
        for name, text in pages.items()
        for width in (PHONE, DESK)
    )
    (folder / "frames.html").write_text(
        '<!doctype html><meta charset="utf-8"><style>body { margin: 0; width: 1640px; font-size: 0; '
        f"line-height: 0 }} iframe {{ border: 0 }}</style>{frames}"
        f'<pre id="found"></pre><script>{_PROGRAM}</script>',
        encoding="utf-8",
    )
    done = subprocess.run(
        [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}",
         f"--window-size={PHONE + DESK},{HEIGHT}", f"--screenshot={folder / 'picture.png'}",
         "--dump-dom", (folder / "frames.html").as_uri()],
        capture_output=True, check=True, timeout=180,
    )  # fmt: skip
    (told,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout.decode("utf-8"), re.DOTALL)
    found = json.loads(html.unescape(told))
    by_width = {(key.split()[0], int(key.split()[1])): page for key, page in found["pages"].items()}
    return Seen(by_width, found["ran"], (folder / "picture.png").read_bytes())
