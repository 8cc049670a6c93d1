"""Takes the picture that docs/html-report.md shows: picture.py PAGE PICTURE [HEIGHT [dark]], 1400 pixels wide."""

import base64
import pathlib
import sys

from browser import Browser

WIDTH = 1400


def main(page, picture, height=1560, colours="light"):
    browser = Browser(WIDTH)
    try:
        browser.dark(colours == "dark")
        browser.open(page)
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": int(height), "scale": 1}
        shot = browser.command("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        pathlib.Path(picture).write_bytes(base64.b64decode(shot["data"]))
    finally:
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
