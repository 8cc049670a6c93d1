"""The package gpuspy of this source tree, with the library of this build."""

import sys

import harness

sys.path.insert(0, str(harness.SOURCE / "python"))

import gpuspy  # noqa: E402,F401  # pylint: disable=unused-import
