"""Prototypes of C functions, read from a vendor's headers by clang, and how x86-64's calling convention passes their arguments.

Source of the classes: System V Application Binary Interface, AMD64 supplement, 3.2.3 "Parameter Passing".
"""

import dataclasses
import json
import re
import subprocess
import tempfile

# Structs that the hooked functions take by value, and what each becomes: I an integer register, F a vector register, and
# words in memory.
STRUCTS = {
    "dim3": "II",  # 12 bytes of integers
    "float2": "F",
    "cuComplex": "F",
    "cufftComplex": "F",
    "double2": "FF",
    "cuDoubleComplex": "FF",
    "__half": "I",  # one unsigned short
    "ncclUniqueId": "M16",  # 128 bytes
    "cudaPitchedPtr": "M4",
    "cudaExtent": "M3",
    "cudaMemLocation": "I",  # two ints
    "CUmemLocation": "I",
    "cudaIpcMemHandle_t": "M8",
    "CUipcMemHandle": "M8",
    "cudaIpcEventHandle_t": "M8",
    "CUipcEventHandle": "M8",
}
INTEGER_REGISTERS = 6
VECTOR_REGISTERS = 8


class UnknownType(Exception):
    """A parameter whose passing is not known here."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    name: str
    type: str  # as the header spells it
    passing: str  # "I", "F", or several of them, or "M<words>"
    bits: int  # of an integer: the rest of its register holds nothing
    is_signed: bool
    is_pointer: bool


@dataclasses.dataclass(frozen=True)
class Prototype:
    name: str
    returns: str
    parameters: tuple

    def places(self):
        """For each parameter the integer-class word that holds it: 0 to 5 a register, 6 and up a word of the stack from the
        first argument there; None for vector registers. Also the number of words on the stack: (places, words)."""
        integer = vector = words = 0
        places = []
        for parameter in self.parameters:
            passing = parameter.passing
            if passing.startswith("M"):
                places.append(INTEGER_REGISTERS + words)
                words += int(passing[1:])
                continue
            integers, vectors = passing.count("I"), passing.count("F")
            if integer + integers <= INTEGER_REGISTERS and vector + vectors <= VECTOR_REGISTERS:
                places.append(integer if integers else None)
                integer, vector = integer + integers, vector + vectors
            else:
                places.append(INTEGER_REGISTERS + words)
                words += len(passing)
        return places, words

    def shape(self):
        """What must be the same for a call to be forwarded the same way."""
        return tuple(parameter.passing for parameter in self.parameters)


def strip(spelling):
    return re.sub(r"\b(const|volatile|struct|enum|union)\b", "", spelling).strip()


def find_enums(nodes):
    """Names of enums and of typedefs that are enums, nameless ones too, and of those made from them."""
    enums = set()
    for node in nodes:
        if node["kind"] == "EnumDecl" and "name" in node:
            enums.add(node["name"])  # in C++ a type without "enum" before it
        if node["kind"] == "TypedefDecl":
            tag = node.get("inner", [{}])[0].get("ownedTagDecl", {})
            target = node["type"].get("desugaredQualType", node["type"]["qualType"])
            if tag.get("kind") == "EnumDecl" or target.startswith("enum ") or strip(node["type"]["qualType"]) in enums:
                enums.add(node["name"])
    return enums


def classify(spelling, desugared, enums):
    """(passing, bits, is signed, is a pointer) of a parameter of this type."""
    desugared = re.sub(r"\brestrict\b", "", desugared)
    if desugared.rstrip().endswith(("*", "]")) or "(*)" in desugared or "*const" in desugared:
        return "I", 64, False, True
    for name in (strip(spelling), strip(desugared)):
        if name in STRUCTS:
            return STRUCTS[name], 64, False, False
    plain = strip(desugared)
    if plain in ("float", "double"):
        return "F", 0, False, False
    if plain in ("long", "long long", "unsigned long", "unsigned long long"):
        return "I", 64, not plain.startswith("unsigned"), "CUdeviceptr" in spelling
    for bits, names in ((32, ("int", "unsigned int")), (16, ("short", "unsigned short")), (8, ("char", "unsigned char", "signed char", "_Bool"))):
        if plain in names:
            return "I", bits, not plain.startswith(("unsigned", "_Bool")), False
    if desugared.startswith("enum ") or plain in enums or strip(spelling) in enums:
        return "I", 32, True, False
    raise UnknownType(f"{spelling} ({desugared})")


def read_declarations(source, include_folders, language):
    """What the file declares outside of functions and types, as clang's nodes; in C++ what has "cu" in its name, which leaves out the
    standard library's hundreds of MB."""
    command = ["clang", "-x", language, "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json"]
    command += ["-Xclang", "-ast-dump-filter=cu"] if language == "c++" else []
    command += [f"-I{folder}" for folder in include_folders]
    outcome = subprocess.run([*command, source], capture_output=True, check=False)
    if outcome.returncode != 0:
        raise RuntimeError(f"clang could not read the headers: {outcome.stderr.decode().splitlines()[:1]}")
    if language == "c":
        return json.loads(outcome.stdout)["inner"]
    text, nodes, at = outcome.stdout.decode(), [], 0
    decoder = json.JSONDecoder()
    while at < len(text):  # one object after the other
        node, at = decoder.raw_decode(text, at)
        at += len(text[at:at + 2]) - len(text[at:at + 2].lstrip())
        nodes.append(node)
    return nodes


def read_prototypes(headers, include_folders, defines=(), language="c"):
    """{name: Prototype} of every C function that the headers declare, and {name: reason} of those that are not understood."""
    with tempfile.NamedTemporaryFile("w", suffix=".c") as source:
        source.write("".join(f"#define {define}\n" for define in defines))
        source.write("".join(f"#include <{header}>\n" for header in headers))
        source.flush()
        nodes = read_declarations(source.name, include_folders, language)
    known, unknown = {}, {}
    enums = find_enums(nodes)
    for node in nodes:
        if node["kind"] != "FunctionDecl" or node.get("storageClass") == "static":
            continue
        if node.get("mangledName", node["name"]) != node["name"]:
            continue  # of C++
        parameters = []
        try:
            for child in node.get("inner", []):
                if child["kind"] != "ParmVarDecl":
                    continue
                spelling = child["type"]["qualType"]
                passing = classify(spelling, child["type"].get("desugaredQualType", spelling), enums)
                parameters.append(Parameter(child.get("name", ""), spelling, *passing))
        except UnknownType as error:
            unknown[node["name"]] = str(error)
            continue
        returns = node["type"]["qualType"].split("(")[0].strip()
        known[node["name"]] = Prototype(node["name"], returns, tuple(parameters))
    return known, unknown
