"""Programs that no one here wrote, without CUDA: the same output, status and files with gpuspy as without, and nothing of gpuspy's.

GPUSPY_LONG_PROGRAMS=1 (tests/integration/long_programs.sh) runs more of Python's own test suite, which takes some minutes.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import harness

IS_LONG = os.environ.get("GPUSPY_LONG_PROGRAMS") == "1"
TIMEOUT_S = 1800 if IS_LONG else 100
# No dates of today, no settings of whoever runs the test.
FIXED = {"LC_ALL": "C", "TZ": "UTC", "GIT_AUTHOR_DATE": "2024-02-29T12:00:00Z", "GIT_COMMITTER_DATE": "2024-02-29T12:00:00Z",
         "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
         "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
         "SOURCE_DATE_EPOCH": "1700000000", "PYTHONDONTWRITEBYTECODE": "1"}

SHELL = r"""
set -u
count() { wc -l | tr -d ' '; }
printf '%s\n' a b c | while read -r line; do echo "<$line>"; done | sort -r | tee copy | count
(exit 3); echo "status $?"
trap 'echo trapped' USR1; kill -USR1 $$
{ echo to stderr >&2; false; } || echo "after false"
sleep 0.01 & wait $!; echo "waited $?"
bash -c 'kill -TERM $$'; echo "terminated $?"
echo "$(ls /proc/$BASHPID/task | count) thread, ${#BASH_VERSION} signs"
exec 3>third; echo third >&3; cat third
cat <<END | sed 's/o/0/g' | awk '{print NF, $0}'
one two
three
END
mkdir -p tree/deep && for i in 1 2 3 4 5; do head -c 5000 /dev/zero | tr '\0' "$i" > "tree/deep/$i"; done
tar --sort=name --mtime=@0 --owner=0 --group=0 -cf - tree | gzip -n9 > tree.tar.gz && mkdir out && tar -xzf tree.tar.gz -C out
diff -r tree out/tree && find out -type f -print0 | sort -z | xargs -0 -P 2 -n 1 cksum | sort
gzip -dc tree.tar.gz | cksum
exec sh -c 'echo "last, $1"; exit 7' sh done
"""

GIT = r"""
set -e
git init -q -b main one && cd one
echo first > file && git add file && git commit -qm first
git checkout -qb side && echo side > other && git add other && git commit -qm side
git checkout -q main && echo second >> file && git commit -qam second
git merge -q -m merge side && git log --graph --format='%h %s %ad' --date=iso
git tag -a -m release v1 && git gc -q && git fsck --full
cd .. && git clone -q "file://$PWD/one" two && cd two && git log --oneline | cat && git diff HEAD~1 --stat
git grep -n second; git bisect start -q HEAD HEAD~1 >/dev/null; git bisect run sh -c 'test -f other' | tail -n 3
git archive HEAD | cksum
"""

COMPILE = r"""
set -e
cat > one.cpp <<'END'
#include <future>
#include <iostream>
#include <stdexcept>
#include <thread>
int main() {
    try {
        std::async(std::launch::async, [] { throw std::runtime_error("thrown in a thread"); }).get();
    } catch (const std::exception& e) {
        std::cout << e.what() << std::endl;
    }
    return 5;
}
END
cat > two.c <<'END'
#include <stdio.h>
int unused(void) { int nothing; return 0; }
int main(int argc, char** argv) { return printf("%d %s\n", argc, argv[1]) < 0; }
END
g++ -O1 -pthread one.cpp -o one && { ./one || echo "status $?"; }
gcc -Wall -flto -O2 two.c -o two && ./two argument
gcc -c broken.c || echo "status $?"
cksum one two
"""

CMAKE = r"""
set -e
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.10)
project(sample C)
add_library(part STATIC part.c)
add_executable(sample main.c)
target_link_libraries(sample part)
enable_testing()
add_test(NAME runs COMMAND sample)
END
echo 'int part(void) { return 4; }' > part.c
printf '#include <stdio.h>\nint part(void);\nint main(void) { return printf("%%d\\n", part()) != 2; }\n' > main.c
cmake -S . -B build -G 'Unix Makefiles' && make -C build -j2 --output-sync >/dev/null && ./build/sample
cd build && ctest 2>&1 | grep -c Passed
"""

PERL = r"""
use strict; use warnings; use POSIX ();
my @words = sort { $b cmp $a } map { scalar reverse } qw(one two three);
print "@words\n";
pipe(my $in, my $out);
my $child = fork();
if ($child == 0) { close $in; print $out "from the child\n"; close $out; POSIX::_exit(9); }
close $out; print <$in>; waitpid($child, 0); print $? >> 8, "\n";
eval { local $SIG{ALRM} = sub { die "alarm\n" }; alarm 1; select(undef, undef, undef, 5); }; print $@;
opendir(my $tasks, "/proc/$$/task"); print scalar(grep { /\d/ } readdir $tasks), " thread\n";
print `echo from a shell`; system("exit 4"); print $? >> 8, "\n";
"""

NODE = r"""
const {Worker, isMainThread, parentPort} = require('worker_threads');
const {execFileSync, spawn} = require('child_process');
const fs = require('fs');
if (isMainThread) {
  console.log(execFileSync('echo', ['from a child']).toString().trim());
  const worker = new Worker(__filename);
  worker.on('message', text => console.log(text));
  worker.on('exit', code => { spawn('sh', ['-c', 'exit 6']).on('exit', status => {
    console.log(code, status); fs.writeFileSync('written', 'by node'); process.exitCode = 3; }); });
} else { parentPort.postMessage('from a worker ' + [3, 1, 2].sort().join()); }
"""

PYTHON_MODULES = ["test_ctypes", "test_thread", "test_fork1", "test_posix", "test_atexit", "test_dbm", "test_mmap",
                  "test_contextlib"]
# Not test_socket: where a virtual machine has vsock, it waits for ever.
PYTHON_LONG_MODULES = PYTHON_MODULES + ["test_wait3", "test_os", "test_subprocess", "test_threading", "test_signal", "test_socketserver", "test_select",
                                        "test_multiprocessing_fork", "test_multiprocessing_spawn",
                                        "test_multiprocessing_main_handling", "test_asyncio", "test_faulthandler", "test_greenlet"]


class Programs(harness.TestCase):
    def setUp(self):
        self.folder = self.new_folder()
        self.traces = self.new_folder()

    def run_in(self, name, command, preload, files=()):
        """In a folder of the same name each time, emptied before."""
        where = self.folder / name
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir()
        for path, text in files:
            (where / path).write_text(text, encoding="ascii")
        variables = {key: os.environ[key] for key in ("PATH", "HOME", "TMPDIR") if key in os.environ}
        variables.update(FIXED)
        if preload:
            variables.update(LD_PRELOAD=str(harness.PRELOAD), GPUSPY_OUTPUT=str(self.traces / "trace.bin"))
        process = subprocess.run(command, cwd=where, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                                 check=False)
        return process, where

    def same(self, program, command, files=(), skip_files=None):
        """Runs it without and with gpuspy; gives its output. `skip_files`: of those the contents hold times."""
        if shutil.which(program) is None:
            self.skipTest(f"{program} is not installed")
        results = []
        for preload in (False, True):
            process, where = self.run_in(program, command, preload, files)
            results.append((process.returncode, process.stdout.decode(), process.stderr.decode(), contents(where, skip_files)))
        self.assertEqual(results[1], results[0])
        self.assertEqual(list(self.traces.iterdir()), [])
        return results[0]

    def test_shell(self):
        status, output, errors, _ = self.same("bash", ["bash", "-c", SHELL])
        self.assertEqual((status, errors.splitlines()[0]), (7, "to stderr"))
        self.assertIn("1 thread, ", output)

    def test_git(self):
        # Its index holds times of files; its packs are made by threads.
        status, output, errors, _ = self.same("git", ["bash", "-c", GIT], skip_files=r"\.git/(index|logs|objects/pack)")
        self.assertEqual(status, 0, errors)
        self.assertIn("merge", output)

    def test_compilers(self):
        status, output, _, _ = self.same("g++", ["bash", "-c", COMPILE])
        self.assertEqual(status, 0)
        self.assertIn("thrown in a thread\nstatus 5\n2 argument\nstatus 1\n", output)

    def test_cmake_and_make(self):
        if shutil.which("make") is None:
            self.skipTest("make is not installed")
        status, output, errors, _ = self.same("cmake", ["bash", "-c", CMAKE], skip_files=r"build/(CMakeFiles|Testing)")
        self.assertEqual((status, output.splitlines()[-2:]), (0, ["4", "1"]), errors)

    def test_perl(self):
        status, output, _, _ = self.same("perl", ["perl", "-e", PERL])
        self.assertEqual((status, output.splitlines()[1:5]), (0, ["from the child", "9", "alarm", "1 thread"]))

    def test_node(self):
        status, output, _, _ = self.same("node", ["node", "script.js"], files=[("script.js", NODE)])
        self.assertEqual((status, output), (3, "from a child\nfrom a worker 1,2,3\n0 6\n"))

    def test_others(self):
        for command in (["sqlite3", ":memory:", "create table t(a); insert into t values(2),(1); select * from t order by a;"],
                        ["openssl", "dgst", "-sha256", "/etc/passwd"], ["tclsh", "/dev/null"],
                        ["awk", "BEGIN { while ((\"echo a; echo b\" | getline line) > 0) print line; exit 2 }"],
                        ["sort", "--parallel=4", "-S", "1M", "/etc/services"], ["java", "-version"]):
            with self.subTest(program=command[0]):
                self.same(command[0], command)

    def python_outcomes(self, modules, preload):
        """{test: outcome} of these modules of the test suite."""
        runner = pathlib.Path(__file__).with_name("programs_python.py")
        process, where = self.run_in("python", [sys.executable, str(runner), "outcomes", *modules], preload)
        outcomes = where / "outcomes"
        self.assertTrue(outcomes.exists(), (preload, process.returncode, process.stderr[-2000:]))
        return dict(line.split("\t") for line in outcomes.read_text(encoding="utf-8").splitlines())

    def test_pythons_own_test_suite(self):
        modules = [name for name in (PYTHON_LONG_MODULES if IS_LONG else PYTHON_MODULES) if has_module(name)]
        if not modules:
            self.skipTest(f"{sys.executable} came without its test suite")
        differing = None
        # A test of theirs that hangs on time may differ once; one that gpuspy breaks differs each time.
        for _ in range(3):
            bare = self.python_outcomes(modules, False)
            spied = self.python_outcomes(modules, True)
            now = {name: (bare.get(name), spied.get(name)) for name in bare.keys() | spied.keys()
                   if bare.get(name) != spied.get(name)}
            differing = now if differing is None else {name: now[name] for name in differing.keys() & now.keys()}
            if not differing:
                break
        self.assertEqual(differing, {})
        self.assertGreater(sum(outcome == "passed" for outcome in spied.values()), 100)
        self.assertEqual(list(self.traces.iterdir()), [])


def has_module(name):
    found = subprocess.run([sys.executable, "-c", f"import test.{name}"], capture_output=True, timeout=TIMEOUT_S, check=False)
    return found.returncode == 0


def contents(folder, skip):
    """{path: checksum} of every file; for those whose contents hold times, that they are there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not path.is_symlink():
            is_skipped = skip is not None and re.search(skip, name)
            found[re.sub(r"pack-\w+|tmp_\w+", "pack", name)] = None if is_skipped else hashlib.sha256(path.read_bytes()).hexdigest()
    return found


if __name__ == "__main__":
    unittest.main()
