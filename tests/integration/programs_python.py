"""Runs modules of Python's own test suite and prints what became of each test: programs_python.py OUTPUT MODULE..."""

import sys
import unittest

from test import support


class Outcomes(unittest.TestResult):
    """What a test says of itself goes nowhere: it has times and numbers of processes in it."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}

    def addSuccess(self, test):
        self.outcomes[test.id()] = "passed"

    def addError(self, test, err):
        self.outcomes[test.id()] = f"error: {err[0].__name__}"

    def addFailure(self, test, err):
        self.outcomes[test.id()] = f"failed: {err[0].__name__}"

    def addSkip(self, test, reason):
        self.outcomes[test.id()] = "skipped"

    def addExpectedFailure(self, test, err):
        self.outcomes[test.id()] = "failed as expected"

    def addUnexpectedSuccess(self, test):
        self.outcomes[test.id()] = "passed unexpectedly"

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.outcomes[subtest.id()] = f"failed: {err[0].__name__}"


def main():
    support.use_resources = []  # No network, no large files, no audio.
    result = Outcomes()
    for module in sys.argv[2:]:
        try:
            tests = unittest.defaultTestLoader.loadTestsFromName(f"test.{module}")
        except unittest.SkipTest as skip:  # As a whole, when it is loaded.
            result.outcomes[module] = f"skipped: {type(skip).__name__}"
        else:
            tests.run(result)
    with open(sys.argv[1], "w", encoding="utf-8") as output:
        for test, outcome in sorted(result.outcomes.items()):
            output.write(f"{test}\t{outcome}\n")


if __name__ == "__main__":
    main()
