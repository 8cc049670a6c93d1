#!/usr/bin/env python3
"""Takes out of CUDA wheels what the build and the examples need: unpack_wheel.py FOLDER WHEEL...

FOLDER/include gets the headers, FOLDER/lib libcudart and libcupti, which the CUDA example runs on where no toolkit is.
"""

import pathlib
import sys
import zipfile

LIBRARIES = ("libcudart.so.", "libcupti.so.")


def target_of(member, folder):
    """Where a file of a wheel goes; None when it is not needed."""
    parts = pathlib.PurePosixPath(member.filename).parts
    if member.is_dir() or ".." in parts:
        return None
    if "include" in parts:
        return folder.joinpath("include", *parts[parts.index("include") + 1 :])
    if parts[-1].startswith(LIBRARIES):
        return folder / "lib" / parts[-1]
    return None


def unpack(wheel, folder):
    """Takes the needed files out of `wheel` and returns how many headers were among them."""
    headers = 0
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            target = target_of(member, folder)
            if target:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))
                headers += folder / "include" in target.parents
    return headers


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    for wheel in arguments[1:]:
        try:
            if unpack(wheel, pathlib.Path(arguments[0])) == 0:
                print(f"setup: {wheel} holds no headers", file=sys.stderr)
                return 1
        except (OSError, zipfile.BadZipFile) as error:
            print(f"setup: cannot unpack {wheel}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
