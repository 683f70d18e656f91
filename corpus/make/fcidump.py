"""Files of integrals: corpus/fcidump, from the description of Knowles and Handy alone."""

import common
import fcidump_bad

REAL = {"8": [[1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1]], "4": [[1, 0, 2, 3], [0, 1, 3, 2]], "none": []}


def number(text):
    text = text.lower().replace("d", "e")
    return float("nan") if "nan" in text else float(text)


def value(text):
    """A number, or a pair of numbers."""
    if text.startswith("("):
        return tuple(number(part) for part in text[1:-1].split(","))
    return number(text)


def conjugate(entry):
    return (entry[0], -entry[1])


def images(at, entry, fold):
    """All cells that an integral stands for."""
    if fold == "none":
        return {at: entry}
    is_complex = isinstance(entry, tuple)
    if len(at) == 2:
        return {(at[1], at[0]): conjugate(entry) if is_complex else entry, at: entry}
    i, j, k, l = at
    if is_complex:
        return {(l, k, j, i): conjugate(entry), (j, i, l, k): conjugate(entry), (k, l, i, j): entry, at: entry}
    equal = {at, (j, i, k, l), (i, j, l, k), (j, i, l, k)}
    if fold == "8":
        equal |= {(k, l, i, j) for i, j, k, l in equal}
    return {cell: entry for cell in equal}


def generators(ndim, is_complex, fold):
    if fold == "none" or ndim < 2:
        return []
    if ndim == 2:
        pairs = [([1, 0], "x*" if is_complex else "x")]
    elif is_complex:
        pairs = [([2, 3, 0, 1], "x"), ([1, 0, 3, 2], "x*")]
    else:
        pairs = [(permutation, "x") for permutation in REAL[fold]]
    return [{"permutation": permutation, "operation": operation, "packed": True} for permutation, operation in pairs]


def shown_value(entry):
    return [common.real(part) for part in entry] if isinstance(entry, tuple) else common.real(entry)


def shown(norb, entries, settings, fold=None, declared=()):
    """What is shown of a file; `entries` are (text of the value, orbitals from 1 that are not 0)."""
    is_complex = bool(entries) and entries[0][0].startswith("(")
    fold = fold or ("4" if is_complex else "8")
    tensors = []
    for name, ndim in (("two", 4), ("one", 2), ("energies", 1), ("core", 0)):
        own = [(text, tuple(orbital - 1 for orbital in at)) for text, at in entries if len(at) == ndim]
        if not own and ndim < 2:
            continue
        tensor = {
            "key": [name],
            "state": None,
            "name": name,
            "dtype": "c128" if is_complex else "f64",
            "shape": [norb] * ndim,
            "dims": common.dims(*[norb] * ndim),
            "symmetries": generators(ndim, is_complex, fold) + [
                {"permutation": permutation, "operation": "x", "packed": False} for permutation in declared if len(permutation) == ndim
            ],
        }
        if ndim == 0:
            tensor.update(storage="dense", data=[shown_value(value(own[0][0]))])
        else:
            cells = {}
            for text, at in own:
                cells.update(images(at, value(text), fold) if ndim > 1 else {at: value(text)})
            found = [{"at": list(at), "data": [shown_value(entry)]} for at, entry in cells.items()]
            tensor.update(storage="sparse", cells=found)
        tensors.append(tensor)
    metadata = {f"fcidump:{name}": setting for name, setting in settings.items()}
    return {"format": "fcidump", "metadata": metadata, "tensors": tensors}


def lines(entries):
    return "".join(f"{text} {' '.join(map(str, list(at) + [0] * (4 - len(at))))}\n" for text, at in entries)


SETTINGS = {"NELEC": 2, "MS2": 0, "ORBSYM": [1, 1], "ISYM": 1}
NUMBERS = {"NELEC": 2, "MS2": 0}
HEAD = " &FCI NORB=2,NELEC=2,MS2=0,\n  ORBSYM=1,1,\n  ISYM=1,\n &END\n"
H2 = [
    ("0.6744931033260081", (1, 1, 1, 1)),
    ("0.1812875358123322", (2, 1, 2, 1)),
    ("0.6634720448605567", (2, 2, 1, 1)),
    ("0.6973979494693358", (2, 2, 2, 2)),
    ("-1.252477303982209", (1, 1)),
    ("-0.4759344611440753", (2, 2)),
    ("0.7137758743754461", ()),
]
COMPLEX = [
    ("(0.5,0.0)", (1, 1, 1, 1)),
    ("(0.25,-0.125)", (2, 1, 1, 1)),
    ("(0.0625,0.5)", (2, 1, 2, 1)),
    ("(0.75,0.0)", (2, 2, 1, 1)),
    ("(-1.0,0.0)", (1, 1)),
    ("(0.1,0.2)", (2, 1)),
    ("(0.7,0.0)", ()),
]


def file(name, head, entries, settings=None, norb=2, fold=None, declared=(), **more):
    fold = fold or (more.get("options") or {}).get("symmetry")
    show = shown(norb, entries, SETTINGS if settings is None else settings, fold, declared)
    common.good("fcidump", f"{name}.fcidump", (head + lines(entries)).encode(), show, **more)


def make():
    integrals()
    headers()
    lines_of_text()
    fcidump_bad.make()


def integrals():
    file("h2", HEAD, H2, canonical=True)
    file("complex", HEAD, COMPLEX, canonical=True)
    file("energies", HEAD, H2[:-1] + [("-0.5782", (1,)), ("0.6703", (2,)), H2[-1]], canonical=True)
    file("no_core", HEAD, H2[:-1], canonical=True)
    file("core_alone", HEAD, H2[-1:], canonical=True)
    file("nothing", HEAD, [], canonical=True)
    three = " &FCI NORB=3,NELEC=2,MS2=0,\n &END\n"
    cells = [("1.0", (1, 1, 1, 1)), ("2.0", (2, 1, 1, 1)), ("-0.0", (3, 1, 2, 2)), ("0.0", (3, 2, 3, 1)), ("5e-324", (3, 3, 2, 1))]
    file("three", three, cells + [("4.0", (3, 1))], NUMBERS, 3, canonical=True)
    # Other orbitals that are equal by symmetry, in another order.
    other = [(text, {(2, 1, 2, 1): (1, 2, 2, 1), (2, 2, 1, 1): (1, 1, 2, 2)}.get(at, at)) for text, at in reversed(H2)]
    file("other_orbitals", HEAD, other)
    other = [(text, {(2, 1, 1, 1): (1, 1, 1, 2), (2, 1, 2, 1): (1, 2, 1, 2), (2, 1): (1, 2)}.get(at, at)) for text, at in COMPLEX]
    file("complex_other_orbitals", HEAD, other)
    # Both orders of the pairs, as PySCF writes the integrals of a molecule.
    both = [("0.6634720448605568", (1, 1, 2, 2))]
    file("both_orders", HEAD, H2 + both, fold="4", declared=[[2, 3, 0, 1]])
    mirrored()
    every = [("1.0", (2, 1, 1, 1)), ("1.0", (1, 2, 1, 1)), ("1.0", (1, 1, 2, 1)), ("1.0", (1, 1, 1, 2)), ("4.0", (2, 1)), ("4.0", (1, 2))]
    file("every_order", HEAD, every, fold="none", declared=[*REAL["8"], [1, 0]])
    file("four_fold", HEAD, H2 + [("0.6634720448605568", (1, 1, 2, 2))], options={"symmetry": "4"})
    file("no_symmetry", HEAD, [("1.0", (2, 1, 1, 1)), ("2.0", (1, 2, 1, 1)), ("3.0", (2, 1)), ("4.0", (1, 2))], options={"symmetry": "none"}, unwritable="is off its image")
    file("no_orbitals", " &FCI NORB=0,NELEC=2,MS2=0,\n &END\n", [("1.5", ())], NUMBERS, 0, canonical=True)


def mirrored():
    """Files that list images of their own integrals, not all and not with all digits; what is absent is filled in."""

    def put(name, listed, absent, fold, declared):
        data = (HEAD + lines(listed)).encode()
        common.good("fcidump", f"{name}.fcidump", data, shown(2, listed + absent, SETTINGS, fold, declared))

    cut = [("2e-15", (2, 1, 1, 1)), ("1.5e-15", (2, 2, 2, 1)), ("0.6634720448605568", (1, 1, 2, 2))]
    absent = [("2e-15", (1, 1, 2, 1)), ("1.5e-15", (2, 1, 2, 2))]
    put("mirror_absent", H2 + cut, absent, "4", [[2, 3, 0, 1]])
    apart = [("0.6634720448602", (1, 1, 2, 2))]  # by 4e-13
    put("mirror_rounded", H2 + apart, [], "4", [[2, 3, 0, 1]])
    # (21|11) by its mirror image too: (22|11) has none.
    equal = [("2.0", (2, 1, 1, 1)), ("2.0", (1, 1, 1, 2)), ("3.0", (2, 2, 1, 1))]
    put("mirror_of_one", equal, [("3.0", (1, 1, 2, 2))], "4", [[2, 3, 0, 1]])
    # An image that is no mirror image: no symmetry packs.
    swapped = [("1.0", (2, 1, 1, 1)), ("1.0", (1, 2, 1, 1)), ("4.0", (2, 1)), ("4.0", (1, 2))]
    absent = [("1.0", (1, 1, 2, 1)), ("1.0", (1, 1, 1, 2))]
    put("swapped", swapped, absent, "none", [*REAL["8"], [1, 0]])


def headers():
    file("one_line", "&FCI NORB=2,NELEC=2,MS2=0,ORBSYM=1,1,ISYM=1 /\n", H2)
    file("small_letters", " &fci norb= 2, nelec =2 , ms2=0\n orbsym=1 1\n isym=1\n &end\n", H2)
    file("dollar", "$FCI\nNORB=2\nNELEC=2\nMS2=0\nORBSYM=1,\n1\nISYM=1\n$END\n", H2)
    file("slash_alone", " &FCI NORB=   2,NELEC= 2,MS2= 0,\n  ORBSYM=1,1,\n  ISYM=1,\n/\n", H2)
    file("blank_lines", "\n\n &FCI NORB=2,\n\nNELEC=2,MS2=0,\n  ORBSYM=1,1,\n  ISYM=1,\n &END\n\n", H2)
    file("comment", " &FCI NORB=2, ! orbitals\n NELEC=2,MS2=0, ORBSYM=1,1, ! of two = kinds\n  ISYM=1,\n &END\n", H2)
    more = {"NELEC": 2, "MS2": 0, "UHF": ".FALSE.", "IUHF": 0, "ORBSYM": [1, 1], "SYML": [0, 0], "NPROP": [1, 1, 1], "TITLE": "'a, b/c'", "FREE": "2*1", "EMPTY": None}
    head = " &FCI NORB=2,NELEC=2,MS2=0,UHF=.FALSE.,IUHF=0,\n  ORBSYM=1,1,\n  SYML=0,0,\n  NPROP=1,1,1,\n  TITLE='a, b/c',FREE=2*1,EMPTY=,\n &END\n"
    without = {name: setting for name, setting in more.items() if name not in ("UHF", "IUHF", "TITLE")}
    head = head.replace("UHF=.FALSE.,IUHF=0,", "").replace("TITLE='a, b/c',", "")
    file("more_settings", head, H2, without, canonical=True)
    head = " &FCI NORB=2,NELEC=2,MS2=0,UHF=.FALSE.,IUHF=0,\n  ORBSYM=1,1,\n  TITLE='a, b',\n &END\n"
    file("restricted", head, H2, {"NELEC": 2, "MS2": 0, "UHF": ".FALSE.", "IUHF": 0, "ORBSYM": [1, 1], "TITLE": "'a, b'"}, canonical=True)
    text = (" &FCI NORB=2,NELEC=2,\n &END\n" + lines(H2)).encode()
    common.good("fcidump", "no_ms2.fcidump", text, shown(2, H2, {"NELEC": 2}), unwritable="--opt ms2=0")
    file("orbsym_of_one", " &FCI NORB=1,NELEC=2,MS2=0,\n  ORBSYM=1,\n &END\n", [("1.0", (1, 1))], {**NUMBERS, "ORBSYM": [1]}, 1, canonical=True)


def lines_of_text():
    spaced = "".join(f"  {text}   {'    '.join(map(str, list(at) + [0] * (4 - len(at))))}  \r\n" for text, at in H2)
    common.good("fcidump", "windows.fcidump", HEAD.replace("\n", "\r\n").encode() + spaced.encode(), shown(2, H2, SETTINGS))
    common.good("fcidump", "no_last_newline.fcidump", (HEAD + lines(H2)[:-1]).encode(), shown(2, H2, SETTINGS))
    spellings = [("1.5D-3", (1, 1, 1, 1)), ("-0.25d+01", (2, 1, 1, 1)), ("+.5E0", (2, 2, 1, 1)), ("1", (1, 1)), ("1e-400", (2, 2))]
    file("spellings", HEAD, spellings)
    file("specials", HEAD, [("nan", (1, 1, 1, 1)), ("-inf", (2, 1, 1, 1)), ("-0.0", (1, 1)), ("inf", ())], canonical=True)
    file("complex_specials", HEAD, [("(nan,-inf)", (2, 1, 1, 1)), ("(nan(0x1),-nan(0x2))", (2, 1))], canonical=True)
    spaced = lines(COMPLEX).replace("(", "( ").replace(",", " ,  ").replace(")", " )")
    common.good("fcidump", "complex_spaced.fcidump", (HEAD + spaced).encode(), shown(2, COMPLEX, SETTINGS))


if __name__ == "__main__":
    raise SystemExit(common.run(make))
