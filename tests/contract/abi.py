"""Calls every function of the hook table through the library, by the prototypes of one version's headers, and compares what
arrives: test_abi.py.

A library that stands for the vendor's defines each function with parameters of the same classes (integer register, vector register,
memory) and adds up every bit it is given; a program calls it with values of its own, bound by the dynamic linker and by dlsym, and knows
the sum and what must be returned.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "hook_tables"))

# pylint: disable=wrong-import-position
import folders  # noqa: E402
import make  # noqa: E402
import rules  # noqa: E402
from prototypes import read_prototypes  # noqa: E402

FAILURE = 1  # the status that the functions return: nothing behind a pointer is read then

PRELUDE = """
typedef unsigned long long word;
typedef struct { unsigned u[3]; } dimensions;
typedef struct { double d[2]; } two_doubles;
#define MEMORY(n) typedef struct { word w[n]; } memory##n;
MEMORY(3) MEMORY(4) MEMORY(8) MEMORY(16)
static inline word mix(word sum, const void *at, int bytes) {
    const unsigned char *byte = at;
    for (int i = 0; i < bytes; ++i) sum = (sum ^ byte[i]) * 1099511628211ULL;
    return sum;
}
"""


@dataclasses.dataclass
class Function:
    name: str
    parameters: list  # C types
    returns: str
    forwarded: bool


def c_type(parameter):
    passing = parameter.passing
    if passing.startswith("M"):
        return f"memory{passing[1:]}"
    if passing == "I":
        return {64: "word", 32: "unsigned", 16: "unsigned short", 8: "unsigned char"}[parameter.bits]
    return {"F": "double", "FF": "two_doubles", "II": "dimensions"}[passing]


def c_return(prototype):
    """The type of the result, by how it comes back; None: not one that a hook returns."""
    returns = prototype.returns
    if returns == "void":
        return "void"
    if re.search(r"DoubleComplex", returns):
        return "two_doubles"
    if returns in ("float", "double") or "Complex" in returns:
        return "double"
    return "unsigned"


def read_functions(root, header_set):
    """The functions of the table that the headers of this set declare."""
    by_hand = make.names_by_hand()
    functions = {}
    for library in rules.LIBRARIES:
        if header_set not in library.folders:
            continue
        known, _ = read_prototypes(library.headers, folders.include_folders(root, header_set), library.defines, library.language)
        for name, prototype in known.items():
            forwarded = name not in by_hand and library.match(name) is not None
            if forwarded or (name in by_hand and not name.startswith("cupti")):
                parameters = [c_type(parameter) for parameter in prototype.parameters]
                functions.setdefault(name, Function(name, parameters, c_return(prototype), forwarded))
        # What no header here declares any more is called with as many arguments as its row forwards.
        for name, words, _ in library.old if header_set == library.folders[-1] else ():
            functions.setdefault(name, Function(name, ["word"] * (6 + words) + ["double"] * 8, "unsigned", True))
    return sorted(functions.values(), key=lambda function: function.name)


def result_text(function):
    return {
        "void": "return;",
        "unsigned": f"return {FAILURE};",
        "double": "return 0.5;",
        "two_doubles": "return (two_doubles){{1.5, 2.5}};",
    }[function.returns]


def library_text(functions):
    text = [PRELUDE, "word abi_sum;"]
    for function in functions:
        names = [f"a{i}" for i in range(len(function.parameters))]
        declared = ", ".join(f"{kind} {name}" for kind, name in zip(function.parameters, names)) or "void"
        mixed = " ".join(f"sum = mix(sum, &{name}, sizeof {name});" for name in names)
        text.append(f"{function.returns} {function.name}({declared}) {{ word sum = 1; {mixed} abi_sum = sum; {result_text(function)} }}")
    return "\n".join(text)


def host_text(functions):
    text = [
        PRELUDE,
        "#define _GNU_SOURCE",
        "#include <dlfcn.h>",
        "#include <stdio.h>",
        "#include <string.h>",
        "extern word abi_sum; static int faults; static word next = 88172645463325252ULL;",
        "static void fill(void *at, int bytes) { unsigned char *byte = at;",
        "  for (int i = 0; i < bytes; ++i) { next ^= next << 13; next ^= next >> 7; next ^= next << 17; byte[i] = next; } }",
        "static void fault(const char *name, const char *what) { printf(\"%s: %s\\n\", name, what); ++faults; }",
    ]
    for function in functions:
        declared = ", ".join(function.parameters) or "void"
        text.append(f"extern {function.returns} {function.name}({declared});")
    for number, function in enumerate(functions):
        names = [f"a{i}" for i in range(len(function.parameters))]
        declared = ", ".join(function.parameters) or "void"
        body = [f"{kind} {name}; fill(&{name}, sizeof {name}); sum = mix(sum, &{name}, sizeof {name});" for kind, name in zip(function.parameters, names)]
        call = f"call({', '.join(names)})"
        check = {
            "void": f"{call};",
            "unsigned": f'if ({call} != {FAILURE}) fault(name, "status");',
            "double": f'if ({call} != 0.5) fault(name, "result");',
            "two_doubles": f'two_doubles r = {call}; if (r.d[0] != 1.5 || r.d[1] != 2.5) fault(name, "result");',
        }[function.returns]
        text.append(
            f"static void test{number}({function.returns} (*call)({declared}), const char *how) {{ word sum = 1; const char *name = "
            f'"{function.name}"; {" ".join(body)} abi_sum = 0; {check} if (abi_sum != sum) fault(name, how); }}'
        )
    text.append("int main(void) {")
    for number, function in enumerate(functions):
        text.append(f'test{number}({function.name}, "arguments"); test{number}((void *)dlsym(RTLD_DEFAULT, "{function.name}"), "arguments by dlsym");')
        # The address of an extern function may be bound to the executable's own stub: a call is bound as programs bind it.
    text.append(f'printf("%d functions, %d faults\\n", {len(functions)}, faults); return faults != 0; }}')
    return "\n".join(text).replace("#define _GNU_SOURCE\n", "")


def build(folder, functions):
    """Compiles library and program; the program's path."""
    (folder / "library.c").write_text(library_text(functions))
    (folder / "host.c").write_text("#define _GNU_SOURCE\n" + host_text(functions))
    quiet = ["-w", "-O0", "-fno-builtin"]
    subprocess.run(["cc", *quiet, "-shared", "-fPIC", "-o", folder / "libabi.so", folder / "library.c"], check=True, timeout=300)
    program = folder / "host"
    link = ["-L", folder, "-labi", "-Wl,-rpath," + str(folder), "-ldl"]
    subprocess.run(["cc", *quiet, "-o", program, folder / "host.c", *link], check=True, timeout=300)
    return program
