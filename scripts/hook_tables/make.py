#!/usr/bin/env python3
"""Writes the generated part of the hook table from the vendor's headers: see rules.py for what is hooked and why.

    make.py [--headers FOLDER] [--check]

FOLDER (build/vendor-headers unless given) gets the headers of every major version, a few MB, if they are not there. --check writes nothing
and compares. Exit status: 0 done or the same, 1 the tables differ from the headers, 77 the headers cannot be fetched (--check).
"""

import argparse
import dataclasses
import pathlib
import re
import sys

import folders
import rules
from prototypes import read_prototypes

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = ROOT / "interpose" / "table"
BY_HAND = ("driver", "runtime", "cupti")
STREAM_TYPES = r"(const )?(struct )?(CUstream|cudaStream_t|CUstream_st \*)"
FIELDS_BYTES = 96  # abi::ApiEntry::fields


@dataclasses.dataclass
class Call:
    name: str
    api_class: str
    attributes: str
    words: int
    fields: str
    sets: list  # header sets that declare it, newest first


def names_by_hand():
    names = set()
    for table in BY_HAND:
        names |= set(re.findall(r"^HOOK\((\w+),", (TABLES / f"{table}.def").read_text(), re.MULTILINE))
    return names


def letter(parameter):
    """How abi::ApiEntry::fields says the type of an integer or a pointer."""
    if parameter.is_pointer:
        return "p"
    if parameter.bits == 64:
        return "l" if parameter.is_signed else "w"
    return "i" if parameter.is_signed else "u"


def is_handle_out(spelling):
    """An argument through which a pointer or a handle is returned."""
    return bool(re.search(r"\*\s*\*$|(CUdeviceptr|\w+_t|CU\w+)(_v1)?\s*\*$", spelling)) and "const" not in spelling


def shorter(name, own=()):
    for pattern, replacement in own + rules.SHORTER:
        if re.fullmatch(pattern, name):
            return re.sub(pattern, replacement, name)
    return name


def sums(prototype, places):
    """Fields that are sums of products over arrays of the call."""
    fields = []
    for pattern, described in rules.SUMS:
        if not re.fullmatch(pattern, prototype.name):
            continue
        types = {parameter.name: parameter.type for parameter in prototype.parameters}
        for name, arrays, count in described:
            is_64 = all(re.search(r"int64_t|long long", types[array]) for array in arrays)
            factors = "x".join(str(places[array]) for array in arrays)
            fields.append(f"{name}:{factors}{'x' if len(arrays) == 1 else ''}@{places[count]}{'l' if is_64 else 'i'}")
    return fields


def describe(parameter, place, places):
    """One word of `fields`, or None when the argument cannot be kept."""
    name = parameter.name
    if name in rules.TYPED:
        counts, kind = rules.TYPED[name]
        count = next((places[of] for of in counts if of in places), None)
        if count is not None and kind in places:
            return f"{name}:{place}B{count},{places[kind]}"
    if parameter.passing != "I":
        return None  # A struct in memory or in several registers is no word.
    if name in rules.BYTES and rules.BYTES[name] in places:
        return f"{name}:{place}#{places[rules.BYTES[name]]}"
    if name in rules.ARRAYS and rules.ARRAYS[name] in places and re.match(r"const \w+Descriptor_t \*$", parameter.type):
        return f"{name}:{place}@{places[rules.ARRAYS[name]]}l"  # handles
    element = re.match(r"(const )?(int|int64_t|long long)( int)?\s*(\*|\[\d*\])$", parameter.type)
    if element:
        if name not in rules.ARRAYS or rules.ARRAYS[name] not in places or not parameter.type.startswith("const") and "n" != name:
            return None
        return f"{name}:{place}@{places[rules.ARRAYS[name]]}{'i' if element[2] == 'int' else 'l'}"
    if parameter.type in ("cufftHandle *", "CUdeviceptr_v1 *"):  # 32 bits
        return f"{name}:{place}%"
    if parameter.type.endswith("*") and is_handle_out(parameter.type):
        return f"{name}:{place}*"
    if re.search(r"\*$|\]$", parameter.type) and not (name in rules.POINTERS and parameter.type == "void *"):
        return None
    return f"{name}:{place}{letter(parameter)}"


def describe_fields(prototype, kept, own_shorter=()):
    places, _ = prototype.places()
    by_name = {p.name: place for p, place in zip(prototype.parameters, places) if place is not None}
    fields = []
    for parameter, place in zip(prototype.parameters, places):
        if place is None:
            continue
        if re.fullmatch(STREAM_TYPES, parameter.type.strip()):
            fields.append(f"stream:{place}s")
            continue
        if (prototype.name, parameter.name) in rules.UNLESS:
            first, last = rules.UNLESS[prototype.name, parameter.name]
            fields.append(f"_:{place}!{first}-{last}")
        if (prototype.name, parameter.name) in rules.ONLY:
            fields.append(f"_:{place}={rules.ONLY[prototype.name, parameter.name]}")
        if kept and re.fullmatch(kept, parameter.name):
            field = describe(parameter, place, by_name)
            if field:
                fields.append(shorter(parameter.name, own_shorter) + field[len(parameter.name):])
    text = " ".join(fields + sums(prototype, by_name))
    if len(text) >= FIELDS_BYTES:
        sys.exit(f"make.py: {prototype.name}: the kept arguments take {len(text)} of {FIELDS_BYTES} bytes; keep fewer or shorten names in rules.py: {text}")
    return text


def check_same(library, name, prototypes):
    """The kept arguments must lie in the same place in every version: else they are not kept, which is said."""
    kept = "|".join([library.kept] + [more for pattern, more in library.also if re.fullmatch(pattern, name)])
    without = "|".join(names for pattern, names in library.without if re.fullmatch(pattern, name))
    kept = f"(?!({without})$)({kept})" if without else kept
    own = tuple((names, to) for pattern, names, to in library.shorter if re.fullmatch(pattern, name))

    def describe(prototype):
        return describe_fields(prototype, kept, own)

    described = {describe(prototype) for prototype in prototypes}
    words = max(prototype.places()[1] for prototype in prototypes)
    if len(described) == 1:
        return described.pop(), words
    # Names of arguments may change between versions; their places must not.
    places = {tuple(re.sub(r"\S+:", "", text).split()) for text in described}
    if len(places) == 1:
        return describe(prototypes[0]), words
    common = set.intersection(*(set(text.split()) for text in described))
    first = describe(prototypes[0]).split()
    return " ".join(field for field in first if field in common), words


def collect(library, root, taken):
    declared = {}
    for name in library.folders:
        known, unknown = read_prototypes(library.headers, folders.include_folders(root, name), library.defines, library.language)
        for function, why in unknown.items():
            if library.match(function):
                sys.exit(f"make.py: {name}: {function} has an argument that prototypes.py does not know: {why}")
        for function, prototype in known.items():
            if function not in taken and library.match(function):
                declared.setdefault(function, []).append((name, prototype))
    calls = []
    for function, found in sorted(declared.items()):
        fields, words = check_same(library, function, [prototype for _, prototype in found])
        api_class, attributes = library.match(function)
        if not found[0][1].returns.rstrip().endswith(("_t", "CUresult", "ncclResult_t", "cufftResult", "cudaError_t")):
            attributes = "kApiNoStatus" if attributes == "0" else attributes
        calls.append(Call(function, api_class, attributes, words, fields, [name for name, _ in found]))
    for function, words, api_class in library.old:
        if function not in declared:
            calls.append(Call(function, api_class, "0", words, "", []))
    return calls


def table_text(library, calls):
    sets = ", ".join(library.folders)
    lines = [
        f"// Calls of {', '.join(h for h in library.headers if not h.startswith('std'))} that are recorded and forwarded as they are.",
        "// Written by scripts/hook_tables/make.py: change rules.py there, not this file.",
        f"// Headers: {sets}.",
        "// CALL(symbol, class, attributes, words of arguments on the stack, arguments kept)",
    ]
    lines += [f'CALL({c.name}, {c.api_class}, {c.attributes}, {c.words}, "{c.fields}")' for c in calls]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=pathlib.Path, default=ROOT / "build" / "vendor-headers")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    try:
        folders.fetch_all(args.headers)
    except OSError as error:
        print(f"make.py: headers cannot be fetched: {error}", file=sys.stderr)
        return 77 if args.check else 1
    taken = names_by_hand()
    differing = []
    for library in rules.LIBRARIES:
        calls = collect(library, args.headers, taken)
        taken |= {call.name for call in calls}
        path = TABLES / f"{library.name}.def"
        text = table_text(library, calls)
        if not args.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            differing.append(path.relative_to(ROOT))
    if differing:
        print(f"make.py: not what the headers and rules.py give: {', '.join(map(str, differing))}; run make.py", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
