"""The tools of requirements.txt into GPUSPY_EXPORT_TOOLS: unpacked, which is all that they need, in seconds where pip takes a minute."""

import pathlib
import shutil
import sys
import zipfile

import harness

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt")
WHEELS = harness.SOURCE / "build" / "wheels" / "export"


def main():
    stamp = harness.TOOLS / "requirements.txt"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return 0
    if not WHEELS.is_dir():
        harness.skip(f"{WHEELS} is not there: scripts/setup.sh fetches it where it can")
    shutil.rmtree(harness.TOOLS, ignore_errors=True)
    for wheel in sorted(WHEELS.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(harness.TOOLS)
    shutil.copy(REQUIREMENTS, stamp)
    return 0


if __name__ == "__main__":
    sys.exit(main())
