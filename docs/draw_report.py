"""Draw the picture of README.md: the first page of the report that the demonstration writes.

`python docs/draw_report.py` writes docs/report.png. It needs Chromium, and Pillow, which comes with matplotlib.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PICTURE = Path(__file__).resolve().parent / "report.png"
WIDTH, HEIGHT = 1200, 1010
COLOURS = 200
"""A page of text and few marks needs no more, and the file is a third; the colour of each mark is kept."""


def drawn(folder: Path) -> Path:
    """The report of the demonstration as a browser shows it, light."""
    subprocess.run([sys.executable, "-m", "unveil", "demo", "--folder", str(folder / "study")], check=True)
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        raise SystemExit("there is no Chromium on this machine")
    subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         f"--screenshot={folder / 'page.png'}", f"--window-size={WIDTH},{HEIGHT}",
         (folder / "study" / "report.html").as_uri()],
        check=True,
    )  # fmt: skip
    return folder / "page.png"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        page = Image.open(drawn(Path(place))).convert("RGB")
        page.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
