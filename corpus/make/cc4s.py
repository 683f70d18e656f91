"""cc4s' yaml with files of elements: corpus/cc4s."""

import struct

import cc4s_bad
import common
from cc4s_file import (block_sparse, blocks, condition, description, doubles, indented, one, property_file, put, show,
                       spelled, tensor, text)

STATES = [(2, "State"), (3, "State")]
VALUES = [1.0, -2.5, 0.1, -0.0, 5e-324, 1.7976931348623157e308]
PAIRS = [(1.0, -1.0), (0.5, 0.0), (-0.0, 2.0), (1e300, 1e-300), (3.0, 4.0), (float("inf"), float("nan"))]


def make():
    dense()
    yamls_of_others()
    texts()
    sets()
    repaired()
    sparse()
    cc4s_bad.make()


def dense():
    one("real", "Real64", STATES, VALUES, canonical=True)
    one("complex", "Complex64", STATES, PAIRS, canonical=True)
    one("vertex", "Complex64", [(2, "AuxiliaryField"), (3, "State"), (1, "State")], PAIRS, canonical=True,
        yaml=description("Complex64", [(2, "AuxiliaryField"), (3, "State"), (1, "State")], unit="0.1917011272153577",
                         more="metaData:\n  halfGrid: 1\n"),
        metadata={"cc4s:unit": 0.1917011272153577, "halfGrid": 1})
    one("scalar", "Real64", [], [7.5], canonical=True)
    one("unnamed", "Real64", [(3, None)], VALUES[:3], canonical=True)
    one("empty", "Real64", [(0, "State"), (3, None)], [], canonical=True)
    yaml = description("Real64", [(1, '"a: b"'), (2, '"1"'), (1, "é"), (1, '"yes"')]).replace("type: é", 'type: "é"')
    dims = [(1, "a: b"), (2, "1"), (1, "é"), (1, "yes")]
    one("odd_types", "Real64", dims, VALUES[:2], yaml=yaml, canonical=True)
    data = "metaData:\n  a: null\n  b: [1, 2.5, x]\n  c:\n    \"1 2\": true\n  e: -.inf\n  f: 1.0e+300\n  g:\n    - [1]\n    - {}\n"
    values = {"a": None, "b": [1, 2.5, "x"], "c": {"1 2": True}, "e": "-Infinity", "f": 1e300, "g": [[1], {}]}
    one("metadata", "Real64", [(1, None)], [1.0], yaml=description("Real64", [(1, None)], more=data), metadata=values, canonical=True)
    one("unit_one", "Real64", [(1, None)], [1.0], yaml=description("Real64", [(1, None)], unit="1"), canonical=True)
    one("unit_whole", "Real64", [(1, None)], [1.0], yaml=description("Real64", [(1, None)], unit="27"), metadata={"cc4s:unit": 27}, canonical=True)


def yamls_of_others():
    """As VASP, cc4s itself and others lay their yaml out."""
    dims = [(2, "AuxiliaryField"), (3, "State")]
    one("vasp", "Complex64", dims, PAIRS, yaml="""version:  100
type: Tensor
scalarType: Complex64
dimensions:
- length:        2
  type: AuxiliaryField
- length:        3
  type: State
elements:
  type: IeeeBinaryFile
unit:  0.1917011272153577       # = sqrt(Eh/eV)
metaData:
  halfGrid: 0
""", metadata={"cc4s:unit": 0.1917011272153577, "halfGrid": 0})
    one("by_cc4s", "Real64", dims, VALUES, yaml="""version: 100
type: Tensor
scalarType: Real64
dimensions:
  0:
    length: 2
    type: AuxiliaryField
  1:
    length: 3
    type: State
elements:
  type: IeeeBinaryFile
unit: 1
metaData:
  {}
""")
    many = [(1, f"t{place}") for place in range(12)]
    numbered = "".join(f"  {place}: {{length: 1, type: t{place}}}\n" for place in sorted(range(12), key=str))
    yaml = "version: 100\ntype: Tensor\nscalarType: Real64\nelements: {type: IeeeBinaryFile}\nunit: 1\ndimensions:\n" + numbered
    one("twelve_dimensions", "Real64", many, [1.0], yaml=yaml)
    flow = '{"version": 100, "type": "Tensor", "scalarType": "Real64", "dimensions": [{"length": 2}], ' \
           '"elements": {"type": "IeeeBinaryFile"}, "unit": 1.0}'
    one("json", "Real64", [(2, None)], VALUES[:2], yaml=flow)
    one("marked", "Real64", [(1, None)], [1.0], yaml="---\n# a comment\n" + description("Real64", [(1, None)]) + "...\n")
    one("windows", "Real64", [(1, None)], [1.0], yaml=description("Real64", [(1, None)]).replace("\n", "\r\n"))
    one("unknown_keys", "Real64", [(1, None)], [1.0], notes=["ignored-field", "ignored-field"],
        yaml=description("Real64", [(1, None)], more="binary: 1\nindices:\n  momentum:\n    type: halfGrid\n"))
    one("no_conditions", "Real64", [(1, None)], [1.0], yaml=description("Real64", [(1, None)], more="nonZeroCondition:\n  all: []\n"))
    no_unit = description("Real64", [(1, None)]).replace("unit: 1.0\n", "")
    one("no_unit", "Real64", [(1, None)], [1.0], yaml=no_unit, notes=["lenient"], lenient=True, strict_at=0)
    old = """version: v1.0
scalarType: {}
indices:
  orbital:
    type: spatial
dimensions:
  - length: 2
    type: orbital
data: {}   # path to raw data
{}unit: 0.03674932217563878
fermiEnergy: -4.5
"""
    more = {"cc4s:unit": 0.03674932217563878, "indices": {"orbital": {"type": "spatial"}}, "fermiEnergy": -4.5}
    seen = show(tensor("Real64", [(2, "orbital")], VALUES[:2], metadata=more))
    put("of_2020", old.format("real64", "Old.dat", ""), seen, {"Old.dat": text(VALUES[:2])})
    seen = show(tensor("Complex64", [(2, "orbital")], PAIRS[:2], metadata=more))
    put("of_2020_binary", old.format("complex64", "Old.bin", "binary: 1\n"), seen, {"Old.bin": doubles(PAIRS[:2])})


def texts():
    def put_text(name, scalar, dims, values, elements=None, **more):
        yaml = description(scalar, dims, kind="TextFile")
        one(name, scalar, dims, values, yaml=yaml, elements=text(values) if elements is None else elements, **more)

    put_text("text_real", "Real64", STATES, VALUES, canonical=True)
    put_text("text_complex", "Complex64", STATES, PAIRS, canonical=True)
    put_text("text_empty", "Real64", [(0, None)], [], canonical=True)
    seventeen = " ".join(f"{value:.17g}" for value in VALUES).encode()
    put_text("text_in_one_line", "Real64", STATES, VALUES, elements=b"\n\t" + seventeen)
    put_text("text_spellings", "Complex64", [(3, None)], [(1.0, 0.0), (2.0, 0.0), (0.5, -3.0)], elements=b"1\r\n(2)  (.5,-3e0)")
    put_text("text_tail", "Real64", [(2, None)], VALUES[:2], elements=text(VALUES[:2]) + b"7.5\n8.5\n", notes=["unread-bytes"], gaps=[(None, None)])
    put_text("text_torn_tail", "Complex64", [(1, None)], PAIRS[:1], elements=text(PAIRS[:1]) + b"5,1e-1)\n", notes=["unread-bytes"], gaps=[(None, None)])
    yaml = description("Real64", [(1, None)], kind="SomeFile")
    one("kind_of_elements", "Real64", [(1, None)], [1.0], yaml=yaml, elements=b"1.0\n", notes=["ignored-field"])


def sets():
    part = description("Real64", [(2, "State")])
    other = description("Complex64", [(1, None)], kind="TextFile", unit="2.5")
    yaml = "version: 100\ntype: TensorSet\ncomponents:\n  hh:\n" + indented(part, 2) + "  \"p.h\":\n" + indented(other, 2)
    seen = show(tensor("Real64", [(2, "State")], VALUES[:2], key=["hh"]),
                tensor("Complex64", [(1, None)], PAIRS[:1], key=["p.h"], metadata={"cc4s:unit": 2.5}))
    put("set", yaml, seen, {"set.components.hh.elements": doubles(VALUES[:2]), "set.components.p.h.elements": text(PAIRS[:1])}, canonical=True)
    put("empty_set", "version: 100\ntype: TensorSet\ncomponents: {}\n", show(), None, canonical=True)
    yaml = "a:\n" + indented(part) + "b:\n  version: 100\n  type: TensorSet\n  components:\n    c:\n" + indented(part, 3)
    beside = {"nested.a.elements": doubles(VALUES[:2]), "nested.b.components.c.elements": doubles(VALUES[2:4])}
    seen = show(tensor("Real64", [(2, "State")], VALUES[:2], key=["a"]), tensor("Real64", [(2, "State")], VALUES[2:4], key=["b", "c"]))
    put("nested", yaml, seen, beside, canonical=True)
    yaml = "energy: -1.5\nout:\n  steps: 3\n  x:\n" + indented(part, 2) + "  y:\n" + indented(part, 2)
    beside = {"maps.out.x.elements": doubles(VALUES[:2]), "maps.out.y.elements": doubles(VALUES[2:4])}
    seen = show(tensor("Real64", [(2, "State")], VALUES[:2], key=["out", "x"]), tensor("Real64", [(2, "State")], VALUES[2:4], key=["out", "y"]),
                metadata={"energy": -1.5, "out/steps": 3})
    put("maps", yaml, seen, beside)


def repaired():
    one("tail", "Real64", STATES, VALUES, elements=doubles(VALUES + [9.0]), notes=["unread-bytes"], gaps=[(None, 8)])
    dims = b"".join(struct.pack("<IBBH", length, 97 + place, 0x7F, 0) for place, (length, _) in enumerate(STATES))
    header = b"TENS" + struct.pack("<I4sIIIII", 0x9000, b"IEEE", 8, 1, 2, 0, 0) + dims
    assert len(header) == 48
    one("sisi4s", "Real64", STATES, VALUES, elements=header + doubles(VALUES), notes=["repaired"])


def sparse():
    spins = {"Spin": {"spin": [0, 1, 0, 1]}}
    pair = [(4, "Spin"), (4, "Spin")]
    same = [([(0, "spin"), (1, "spin")], [[0, 0], [1, 1]])]
    block_sparse("spins", "Real64", pair, same, spins, lambda n: n + 0.5, canonical=True)
    momenta = {"Momentum": {"k": [0, 0, 1, 2], "s": [0, 1, 1, 0]}}
    three = [(2, None), (4, "Momentum"), (4, "Momentum")]
    two = [([(1, "k"), (2, "k")], [[0, 0], [1, 2], [2, 1], [7, 7]]), ([(1, "s"), (2, "s")], [[0, 0], [0, 1], [1, 1]])]
    block_sparse("two_conditions", "Complex64", three, two, momenta, lambda n: (float(n), -float(n)), canonical=True)
    block_sparse("zeros_are_kept", "Real64", [(4, "Kept"), (4, "Kept")], same, {"Kept": spins["Spin"]}, lambda n: float(n % 2), canonical=True)
    block_sparse("no_blocks", "Real64", [(4, "None_"), (4, "None_")], [([(0, "spin")], [])], {"None_": spins["Spin"]}, lambda n: 0.0, canonical=True)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
