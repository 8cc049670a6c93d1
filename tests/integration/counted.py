"""The host `counted` (tests/hosts/counted.cpp): what it says it had done, and what a report says of it."""

import mmap
import re
import struct
import subprocess
import time

import harness

SLOT_BYTES = 64
KERNELS = 512
CALL = re.compile(r"^ *[\d.]+ +(\d+) +\S+(?: \S+)? +cudaLaunchKernel\(function=(0x[0-9a-f]+)")


class Log:
    """The host's file of counters, read while it runs or after its end."""

    def __init__(self, path):
        self.path = path

    def slots(self):
        """(id, begun, done) of the process and of each of its threads."""
        content = self.path.read_bytes() if self.path.exists() else b""
        return [struct.unpack_from("<QQQ", content, at) for at in range(0, len(content), SLOT_BYTES)]

    def pid(self):
        slots = self.slots()
        return slots[0][0] if slots else 0

    def all_threads_launched(self):
        slots = self.slots()
        return bool(slots) and slots[0][1] == 1

    def threads(self):
        """(begun, done) by thread id, of the threads that had begun."""
        return {tid: (begun, done) for tid, begun, done in self.slots()[1:] if begun != 0}

    def launches(self):
        return sum(done for _, done in self.threads().values())


def wait_until(case, condition, what, timeout_s=harness.TIMEOUT_S):
    deadline = time.monotonic() + timeout_s
    while not condition():
        case.assertLess(time.monotonic(), deadline, what)
        time.sleep(0.002)


def listed_launches(trace):
    """Addresses of the functions that each thread launched, in the order of the trace."""
    process = subprocess.run([harness.REPORT, "--format", "calls", trace], capture_output=True, text=True,
                             timeout=4 * harness.TIMEOUT_S, check=False)
    if process.returncode != 0:
        raise AssertionError(f"gpuspy-report --format calls: status {process.returncode}, {process.stderr!r}")
    launches = {}
    for line in process.stdout.splitlines():
        found = CALL.match(line)
        if found is not None:
            launches.setdefault(int(found[1]), []).append(int(found[2], 16))
    return launches


def assert_last(case, addresses, begun, done):
    """The launches of one thread are its last ones, without a gap. Kernel number n is the n-th element of an array."""
    case.assertGreater(len(addresses), 0)
    case.assertLessEqual(len(addresses), begun)
    step = addresses[1] - addresses[0] if len(addresses) > 1 else 8
    for before, after in zip(addresses, addresses[1:]):
        case.assertIn(after - before, (8, 8 * (1 - KERNELS)), f"after {before:#x}, step {step}")
    return addresses[-1]
