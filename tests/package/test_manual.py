"""Options: --help, the manual page and the completion name the same ones; the completion gives what it should."""

import re
import shutil
import subprocess
import unittest

import harness

PACKAGING = harness.SOURCE / "packaging"
# What has options and a manual page of its own.
COMMANDS = [*harness.PROGRAMS, "gpuspy-report compare", "gpuspy-run sweep"]


def page_of(command):
    return PACKAGING / "man" / f"{command.replace(' ', '-')}.1"


def options_of_help(command):
    """Each option begins a line; its help is at least two spaces away, or in the next line."""
    program, *words = command.split()
    text = harness.run(harness.BUILD / "bin" / program, *words, "--help")
    names = [line.strip().split()[0] for line in text.splitlines() if re.match(r"^  -", line)]
    return sorted(name for group in names for name in group.split(","))


def options_of_manual(command):
    """In the section OPTIONS, the line behind each .TP."""
    text = page_of(command).read_text()
    section = text.split(".SH OPTIONS\n")[1].split(".SH ")[0]
    heads = [head.replace("\\-", "-") for head in re.findall(r"\.TP\n\.BR? (.*)", section)]
    return sorted(name for head in heads for name in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", head))


def options_of_completion(command):
    program, *words = command.split()
    text = (PACKAGING / "completion" / program).read_text()
    name = "_".join([*words, "options"])
    return sorted(re.search(rf'local {name}="([^"]*)"', text)[1].split())


def options_of_zsh(command):
    text = (PACKAGING / "completion" / f"_{command.replace(' ', '-')}").read_text()
    groups = re.findall(r"\{(-[\w,-]+)\}'\[|'(?:\([^)]*\)|\*)?(-[\w-]+)\[", text)
    return sorted(name for group in groups for name in (group[0] or group[1]).split(","))


def subcommands_of_help(program):
    text = harness.run(harness.BUILD / "bin" / program, "--help").split("Subcommands:\n")[1]
    return re.findall(r"^  ([a-z]+) ", text.split("\n\n")[0], re.MULTILINE)


def complete(program, *words):
    """What bash offers for the last of the words."""
    script = f"""
        source "{PACKAGING}/completion/{program}"
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _{program.replace("-", "_")}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    return harness.run("bash", "--norc", "-c", script, "bash", program, *words).split()


class Manual(unittest.TestCase):
    def test_same_options(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                options = options_of_help(command)
                self.assertGreaterEqual(len(options), 5)
                self.assertEqual(options_of_manual(command), options)
                self.assertEqual(options_of_completion(command), options)
                self.assertEqual(options_of_zsh(command), options)

    def test_same_formats(self):
        said = harness.run(harness.BUILD / "bin" / "gpuspy-report", "--help")
        formats = re.search(r"--format \S+:\{([\w,]+)\}", said)[1].split(",")
        self.assertIn("calls", formats)
        manual = (PACKAGING / "man" / "gpuspy-report.1").read_text()
        self.assertIn(f".BR \\-\\-format \" \" {' | '.join(formats)}\n", manual)
        self.assertEqual(complete("gpuspy-report", "--format", ""), formats)
        self.assertIn(f":format:({' '.join(formats)})'", (PACKAGING / "completion" / "_gpuspy-report").read_text())

    def test_same_exports(self):
        said = harness.run(harness.BUILD / "bin" / "gpuspy-report", "export", "--help")
        kinds = re.findall(r"^  ([\w-]+) ", said.split("Kinds:")[1], re.MULTILINE)
        self.assertIn("perfetto", kinds)
        manual = (PACKAGING / "man" / "gpuspy-report.1").read_text()
        self.assertEqual(re.findall(r"^\.BR ([\w-]+) :$", manual.split(".SH EXPORT\n")[1].split(".SH ")[0], re.MULTILINE), kinds)
        self.assertEqual(complete("gpuspy-report", "export", "--to", ""), kinds)
        self.assertIn(f":kind:({' '.join(kinds)})", (PACKAGING / "completion" / "_gpuspy-report").read_text())

    def test_synopsis_has_the_subcommands(self):
        synopsis = (PACKAGING / "man" / "gpuspy-report.1").read_text().split(".SH SYNOPSIS\n")[1].split(".SH ")[0]
        subcommands = subcommands_of_help("gpuspy-report")
        self.assertEqual(sorted(re.findall(r"^\.B gpuspy-report (\w+)$", synopsis, re.MULTILINE)), sorted(subcommands))
        zsh = (PACKAGING / "completion" / "_gpuspy-report").read_text()
        self.assertIn(f"compadd -- {' '.join(sorted(subcommands))}\n", zsh)

    def test_manual_pages_are_well_formed(self):
        if shutil.which("groff") is None:
            self.skipTest("no groff")
        for command in COMMANDS:
            process = subprocess.run(["groff", "-man", "-ww", "-z", page_of(command)],
                                     capture_output=True, text=True, check=False)
            self.assertEqual((process.returncode, process.stderr), (0, ""))

    def test_zsh_reads_its_files(self):
        if shutil.which("zsh") is None:
            self.skipTest("no zsh")
        for command in COMMANDS:
            harness.run("zsh", "-n", PACKAGING / "completion" / f"_{command.replace(' ', '-')}")

    def test_completion_of_run(self):
        self.assertEqual(complete("gpuspy-run", "--de"), ["--device-timing"])
        self.assertEqual(complete("gpuspy-run", "--device-timing", ""), ["0", "1"])
        self.assertIn("bash", complete("gpuspy-run", "bas"))
        self.assertIn("bash", complete("gpuspy-run", "-o", "x", "bas"))
        for subcommand in ("sweep", "snapshot"):
            self.assertIn(subcommand, complete("gpuspy-run", ""))
            self.assertIn(subcommand, complete("gpuspy-run", subcommand[:3]))
            self.assertNotIn(subcommand, complete("gpuspy-run", "--report", subcommand[:3]))  # There stands a command.
            zsh = (PACKAGING / "completion" / "_gpuspy-run").read_text()
            self.assertRegex(zsh, rf"CURRENT == 2.*compadd -- .*\b{subcommand}\b")
        self.assertIn("bash", complete("gpuspy-run", "--report", "--", "bas"))
        # The options behind the command are the command's.
        self.assertEqual(complete("gpuspy-run", "--", "bash", "--re"), [])
        self.assertEqual(complete("gpuspy-run", "sweep", "--pa"), ["--param"])
        self.assertIn("bash", complete("gpuspy-run", "sweep", "--param", "n=1", "--", "bas"))

    def test_completion_of_report(self):
        self.assertEqual(complete("gpuspy-report", "--fo"), ["--format"])
        self.assertEqual(complete("gpuspy-report", "--format", "j"), ["json"])
        for subcommand in subcommands_of_help("gpuspy-report"):
            self.assertIn(subcommand, complete("gpuspy-report", ""))
            self.assertEqual(complete("gpuspy-report", subcommand[:4]), [subcommand])
            self.assertNotIn(subcommand, complete("gpuspy-report", subcommand, subcommand[:4]))  # There stand traces.
        self.assertEqual(complete("gpuspy-report", "compare", "--fa"), ["--fail-if"])
        self.assertEqual(complete("gpuspy-report", "compare", "--format", ""), ["text", "json", "html", "csv"])
        self.assertEqual(complete("gpuspy-report", f"{harness.SOURCE}/READ"), [f"{harness.SOURCE}/README.md"])


if __name__ == "__main__":
    unittest.main()
