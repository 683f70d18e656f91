"""cc4s' files that are refused: corpus/cc4s/bad."""

import common
from cc4s_file import condition, description, doubles, property_file, text

PLAIN = description("Real64", [(2, "State")])
TWO = doubles([1.0, 2.0])


def put(name, yaml, part, why, elements=TWO, beside=None, nth=0, **more):
    """A file that is refused where `part` stands (for the `nth` time from 0), or at a byte."""
    data = yaml if isinstance(yaml, bytes) else yaml.encode()
    at = part
    if isinstance(part, str):
        at = -1
        for _ in range(nth + 1):
            at = data.index(part.encode(), at + 1)
    files = dict(beside or {})
    if elements is not None:
        files[f"{name}.elements"] = elements
    common.bad("cc4s", f"{name}.yaml", data, at, why, beside=files, **more)


def without(key, yaml=PLAIN):
    return "".join(line + "\n" for line in yaml.splitlines() if not line.startswith(key + ":"))


def make():
    yamls()
    keys()
    dimensions()
    elements()
    sets()
    conditions()


def yamls():
    put("nothing", "", 0, "nothing in it")
    put("comment", "# nothing\n", 0, "nothing in it")
    put("not_utf8", PLAIN.replace("State", "St").encode() + b"\xff", len(PLAIN) - 3, "not UTF-8")
    put("scalar", "tensor\n", 0, "no map")
    put("list", "- type: Tensor\n", 0, "no map")
    put("anchor", PLAIN + "metaData: &a\n  x: 1\n", "&a", "an anchor")
    put("alias", PLAIN + "metaData:\n  x: *a\n", None, "an alias")
    put("bomb", "a: &a [x, x]\nb: &b [*a, *a]\n" + PLAIN, "&a", "an anchor")
    put("tag", PLAIN.replace("unit: 1.0", "unit: !!float 1.0"), "!!float", "a tag")
    put("documents", PLAIN + "---\n" + PLAIN, "---", "a second document")
    put("twice", PLAIN + "unit: 2.0\n", "unit", "a key that is there twice", nth=1)
    put("twice_in_metadata", PLAIN + "metaData:\n  a: 1\n  b: 2\n  a: 3\n", "a: 3", "a key that is there twice")
    put("list_as_key", PLAIN + "metaData:\n  ? [1]\n  : 2\n", "[1]", "a key that is no scalar")
    put("open_list", PLAIN + "metaData: [1, 2\n", None, "the list does not end")
    put("open_quote", PLAIN + "metaData: \"a\n", None, "the text does not end")
    put("tab", PLAIN.replace("  type: State", "\ttype: State"), None, "tabs do not indent")
    put("deep", PLAIN + "metaData: " + "[" * 100 + "]" * 100 + "\n", None, "too deep", kind="limit")
    put("nul", PLAIN.replace("State", "St\0te"), None, "a NUL")


def keys():
    put("no_version", without("version"), 0, "no version")
    put("no_type", without("type"), 0, "no type")
    put("no_scalar_type", without("scalarType"), 0, "no scalarType")
    put("no_elements", PLAIN.replace("elements:\n  type: IeeeBinaryFile\n", ""), 0, "no elements")
    put("no_type_of_elements", PLAIN.replace("  type: IeeeBinaryFile", "  kind: IeeeBinaryFile"), "kind", "no type of elements")
    put("elements_a_word", PLAIN.replace("elements:\n  type: IeeeBinaryFile", "elements: IeeeBinaryFile"), "IeeeBinaryFile", "no type of elements")
    put("type_of_elements_a_list", PLAIN.replace("IeeeBinaryFile", "[1]"), "[1]", "no type of elements")
    put("no_unit", without("unit"), 0, "no unit", lenient_ok=True)
    put("unit_text", PLAIN.replace("unit: 1.0", "unit: eV"), "eV", "a unit is a number")
    put("version_later", PLAIN.replace("100", "101"), None, "another version", kind="unsupported")
    put("version_text", PLAIN.replace("100", "latest"), None, "another version", kind="unsupported")
    put("real128", PLAIN.replace("Real64", "Real128"), None, "quad precision", kind="unsupported")
    put("complex128", PLAIN.replace("Real64", "Complex128"), None, "quad precision", kind="unsupported")
    put("float32", PLAIN.replace("Real64", "Float32"), "Float32", "no such scalarType")
    put("scalar_type_a_map", PLAIN.replace("Real64", "{a: 1}"), "{a", "no such scalarType")
    put("metadata_a_list", PLAIN + "metaData: [1]\n", "[1]", "metadata is a map")
    put("unit_twice", PLAIN.replace("1.0", "2.0") + "metaData:\n  cc4s:unit: 3.0\n", "cc4s:unit", "it is the name of the unit")
    put("property_file", "dimensionType: State\nproperties: {}\npropertyIndices: {}\n", 0, "no tensor", elements=None)
    put("no_tensor", "a: 1\nb:\n  c: 2\n", 0, "no tensor", elements=None)
    old = "version: v1.0\nscalarType: real64\ndimensions:\n  - length: 2\ndata: {}\nbinary: 1\nunit: 1\n"
    put("old_without_data", old.replace("data: {}\n", ""), 0, "no data", elements=None)
    put("old_data_a_list", old.format("[a]"), "[a]", "no name", elements=None)
    put("old_binary", old.format("Old2.bin").replace("binary: 1", "binary: 2"), "2\nunit", "neither 0 nor 1", elements=None)
    for name, file in (("absolute", "/etc/passwd"), ("above", "../secret.bin"), ("folder", "a/b.bin"), ("dots", "..")):
        put(f"old_data_{name}", old.format(file), file, "not beside the file", elements=None)


def dimensions():
    put("no_dimensions", "version: 100\ntype: Tensor\nscalarType: Real64\nelements:\n  type: IeeeBinaryFile\nunit: 1\n", 0, "no dimensions")
    put("dimensions_a_number", PLAIN.replace("dimensions:\n  - length: 2\n    type: State", "dimensions: 2"), "2\nelements", "no list")
    put("dimension_a_number", PLAIN.replace("  - length: 2\n    type: State", "  - 2"), "2\nelements", "no length")
    put("no_length", PLAIN.replace("length: 2\n    ", ""), "type: State", "no length")
    put("length_negative", PLAIN.replace("length: 2", "length: -2"), "-2", "no length")
    put("length_fraction", PLAIN.replace("length: 2", "length: 2.5"), "2.5", "no length")
    put("length_text", PLAIN.replace("length: 2", 'length: "2"'), '"2"', "no length")
    put("length_beyond", PLAIN.replace("length: 2", "length: 18446744073709551616"), "18446744073709551616", "no length")
    put("too_large", PLAIN.replace("length: 2", "length: 2305843009213693952"), "- length", "2^64 bytes")
    put("type_a_list", PLAIN.replace("type: State", "type: [State]"), "[State]", "no type")
    numbered = PLAIN.replace("  - length: 2\n    type: State\n", "  0: {length: 1}\n  2: {length: 2}\n")
    put("number_missing", numbered, "{length: 2}", "dimension 1 is missing")
    put("number_text", numbered.replace("  2:", "  x:"), "x:", "no number")
    many = "dimensions:\n" + "  - length: 1\n" * 256
    put("too_many", PLAIN.replace("dimensions:\n  - length: 2\n    type: State\n", many), None, "more than 255", kind="limit")


def elements():
    put("short", PLAIN, 8, "too few", elements=doubles([1.0]))
    put("cut", PLAIN, 15, "too few", elements=TWO[:-1])
    put("none", PLAIN, 0, "too few", elements=b"")
    put("dry_run", PLAIN, 0, "a dry run", elements=b"# dry-run: no elements written\n")
    put("length_huge", PLAIN.replace("length: 2", "length: 1000000000000"), 16, "too few")
    words = PLAIN.replace("IeeeBinaryFile", "TextFile")
    pairs = words.replace("Real64", "Complex64")
    put("text_short", words, 2, "too few", elements=b"1\n")
    put("text_none", words, 0, "too few", elements=b"")
    put("text_dry_run", words, 0, "a dry run", elements=b"# dry-run: no elements written\n")
    put("text_no_number", words, 2, "no number", elements=b"1\nx\n")
    put("text_fortran", words, 0, "no number", elements=b"1D0\n2D0\n")
    put("text_pair", words, 0, "no real number", elements=b"(1,2)\n(3,4)\n")
    put("text_too_large", words, 2, "no double", elements=b"1\n1e999\n")
    put("text_open", pairs, 0, "the pair does not end", elements=b"(1,2\n(3,4)\n")
    put("text_three", pairs, 0, "three parts", elements=b"(1,2,3)\n(3,4)\n")
    put("text_empty_pair", pairs, 6, "no numbers", elements=b"(1,2)\n()\n")
    put("text_spaces", pairs, 0, "spaces part elements", elements=b"(1, 2)\n(3, 4)\n")
    put("text_huge", words.replace("length: 2", "length: 1000000000000"), 4, "too few", elements=b"1\n2\n")


def sets():
    part = "".join("    " + line + "\n" for line in PLAIN.splitlines())
    put("set_without_components", "version: 100\ntype: TensorSet\n", 0, "no components", elements=None)
    put("set_of_a_list", "version: 100\ntype: TensorSet\ncomponents: [1]\n", "[1]", "no map", elements=None)
    put("set_of_a_number", "version: 100\ntype: TensorSet\ncomponents:\n  a: 1\n", "1\n", "no tensor", elements=None)
    put("set_later", "version: 101\ntype: TensorSet\ncomponents: {}\n", None, "another version", kind="unsupported", elements=None)
    put("set_above", "version: 100\ntype: TensorSet\ncomponents:\n  \"a/../../b\":\n" + part, '"a/', "a name with /", elements=None)
    put("set_nul", "version: 100\ntype: TensorSet\ncomponents:\n  \"a\\0b\":\n" + part, '"a', "a name with NUL", elements=None)


def conditions():
    lists = {"spin": [0, 1]}
    plain = [([(0, "spin")], [[0]])]

    def sparse(name, conditions, why, part="all:", lists=lists, yaml=None, elements=doubles([1.0]), **more):
        word = "".join(piece.capitalize() for piece in name.split("_"))
        yaml = yaml or description("Real64", [(2, word)], more=condition(conditions))
        beside = {} if lists is None else {f"{word}.yaml": lists if isinstance(lists, bytes) else property_file(word, lists)}
        put(name, yaml.replace("WORD", word), part, why, elements=elements, beside=beside, **more)

    base = description("Real64", [(2, "WORD")])
    sparse("block_twice", [([(0, "spin")], [[0], [0]])], "a block that is there twice")
    sparse("block_of_two", [([(0, "spin")], [[0, 0]])], "more values than properties")
    sparse("block_of_text", [([(0, "spin")], [["x"]])], "no number")
    sparse("no_such_dimension", [([(1, "spin")], [[0]])], "no such dimension")
    sparse("no_such_property", [([(0, "charge")], [[0]])], "no such property")
    sparse("property_short", plain, "one value for two indices", lists={"spin": [0]})
    sparse("property_of_text", plain, "no numbers", lists={"spin": ["x", "y"]})
    sparse("too_many_cells", [([(0, "spin")], [[0], [1]])], "fewer elements than cells")
    sparse("no_all", plain, "no list of conditions", part="{any", yaml=base + "nonZeroCondition: {any: []}\n")
    sparse("all_a_map", plain, "no list of conditions", part="{}", yaml=base + "nonZeroCondition:\n  all: {}\n")
    sparse("condition_a_number", plain, "no condition", yaml=base + "nonZeroCondition:\n  all: [1]\n")
    sparse("property_file_broken", plain, "no YAML", part=None, lists=b"a: [\n")
    sparse("property_file_anchor", plain, "an anchor", part=None, lists=b"a: &a 1\n")
    sparse("no_type_of_dimension", plain, "no type", yaml=description("Real64", [(2, None)], more=condition(plain)))
    many = [([(0, "spin")], [[n] for n in range(300)])] * 3
    sparse("blocks_2_24", many, "too many blocks", part=None, kind="limit")
