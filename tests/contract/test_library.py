"""The promises of libgpuspy.so as a file: what it needs, what it shows, where it loads."""

import os
import re
import subprocess
import sys
import unittest

import harness

GLIBC_FLOOR = (2, 17)
# Ways to find functions, which are hooked too but are not rows of the table. dlerror is there where a hidden hook has to
# leave the message that the dynamic linker would have left.
LOOK_UPS = {"dlsym", "dlvsym"}
# What NVTX looks for in the library that NVTX_INJECTION64_PATH names.
INJECTION = {"InitializeInjectionNvtx2"}
MAY_BE = {"dlerror", "dlclose"}
# Ways out that run no exit handlers.
EXITS = {"_exit", "_Exit"}
MAX_TLS_BYTES = 128


class Needs(unittest.TestCase):
    def test_libraries(self):
        self.assertEqual(harness.needed(), ["libc.so.6", "libdl.so.2", "libpthread.so.0"])

    def test_glibc_floor(self):
        versioned = [(name, version) for name, version, defined in harness.dynamic_symbols() if not defined and version]
        self.assertNotEqual(versioned, [])
        newer = [(name, version) for name, version in versioned
                 if not re.fullmatch(r"GLIBC_[\d.]+", version)
                 or tuple(int(part) for part in version.split("_")[1].split(".")) > GLIBC_FLOOR]
        self.assertEqual(newer, [])

    def test_undefined_symbols_are_glibcs(self):
        """A symbol without a version comes from nowhere known: it would be bound to whatever the host has."""
        loose = [name for name, version, defined in harness.dynamic_symbols() if not defined and not version]
        self.assertEqual([name for name in loose if name != "__tls_get_addr" and not name.startswith("_ITM_")
                          and name != "__gmon_start__"], [])

    def test_no_allocator_of_the_host(self):
        used = {name for name, _, defined in harness.dynamic_symbols() if not defined}
        self.assertEqual(used & {"malloc", "calloc", "realloc", "free", "_Znwm", "_ZdlPv"}, set())


class Shows(unittest.TestCase):
    def setUp(self):
        self.exported = {name for name, _, defined in harness.dynamic_symbols() if defined}

    def test_exports_equal_the_table(self):
        names = (harness.BUILD / "hook_names.txt").read_text(encoding="ascii").split()
        self.assertGreater(len(names), 100)
        self.assertEqual(len(names), len(set(names)), "a name is twice in the table")
        table = set(names) | LOOK_UPS | INJECTION | EXITS
        self.assertEqual(sorted(table - self.exported), [], "in the table, not exported")
        self.assertEqual(sorted(self.exported - table - MAY_BE), [], "exported, not in the table")

    def test_no_cpp_symbol(self):
        self.assertEqual([name for name in self.exported if name.startswith("_Z") or "std" in name], [])

    def test_no_dlopen(self):
        """A hook on dlopen would change whose RUNPATH applies."""
        self.assertEqual(self.exported & {"dlopen", "dlmopen"}, set())

    def test_symbols_have_no_version(self):
        self.assertEqual([name for name, version, defined in harness.dynamic_symbols() if defined and version], [])


class Loads(unittest.TestCase):
    def run_true(self, **variables):
        process = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": str(harness.PRELOAD), **variables},
                                 capture_output=True, timeout=60, check=False)
        self.assertEqual((process.returncode, process.stdout, process.stderr), (0, b"", b""))

    def test_preloaded(self):
        self.run_true()

    def test_bound_at_once(self):
        self.run_true(LD_BIND_NOW="1")

    def test_thread_local_storage_is_small(self):
        self.assertLessEqual(harness.tls_bytes(), MAX_TLS_BYTES)

    def test_opened_late(self):
        """By dlopen its thread-local storage must fit into what the dynamic linker keeps in reserve."""
        process = subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", harness.PRELOAD],
                                 capture_output=True, timeout=60, check=False)
        self.assertEqual((process.returncode, process.stderr), (0, b""))

    def test_no_text_relocation_no_executable_stack(self):
        segments = harness.output("readelf", "-lW", harness.PRELOAD)
        stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
        self.assertNotIn("RWE", stack)
        self.assertNotIn("TEXTREL", harness.output("readelf", "-dW", harness.PRELOAD))


if __name__ == "__main__":
    unittest.main()
