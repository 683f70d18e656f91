"""Vespa's tensors as text: JSON documents and literals.

Texts are written out by hand; a `¦` in a bad one marks the byte at which it is refused.
"""

import common
from vespa import show

MARK = "¦"


def shown(format, *args, **more):
    return {**show(*args, **more), "format": format}


def good(name, text, blocks, mapped=(), indexed=None, dtype="f64", spec=None, canonical=False, notes=None):
    """A readable text; `spec` is the type that has to be given beside it."""
    seen = shown("vespa-text", dtype, mapped, indexed or {}, blocks, notes)
    options = {"type": spec} if spec else {}
    data = text.encode() + (b"\n" if canonical else b"")
    common.good("vespa-text", name + ".text", data, seen, options=options, canonical=canonical)


def bad(name, why, text, spec=None, **more):
    at = len(text.split(MARK)[0].encode()) if MARK in text else None
    options = {"type": spec} if spec else {}
    common.bad("vespa-text", name + ".text", text.replace(MARK, "").encode(), at, why, options=options, **more)


def make():
    nan, inf = float("nan"), float("inf")
    six = [((), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]
    ab = [(("a",), [1.0, 2.0]), (("b",), [3.0, 4.0])]
    two = [(("p", "q"), [1.0, 2.0])]

    good("dense", '{"type":"tensor(x[2],y[3])","values":[[1.0,2.0,3.0],[4.0,5.0,6.0]]}', six,
         indexed={"x": 2, "y": 3}, canonical=True)
    good("dense_flat", '{"values":[1,2,3,4,5,6],"type":" tensor ( y [ 3 ] , x[2] ) "}', six, indexed={"x": 2, "y": 3})
    good("scalar", '{"type":"tensor()","values":[-0.0]}', [((), [-0.0])], canonical=True)
    good("int8", '{"type":"tensor<int8>(x[3])","values":[-128,0,127]}', [((), [-128, 0, 127])],
         indexed={"x": 3}, dtype="i8", canonical=True)
    good("bfloat16", '{"type":"tensor<bfloat16>(x[2])","values":[1.5,-3.0E38]}'.replace("-3.0E38", "-2.0"),
         [((), [1.5, -2.0])], indexed={"x": 2}, dtype="bf16", canonical=True)
    good("special", '{"type":"tensor(x[4])","values":["NaN","Infinity","-Infinity",1.0E-4]}',
         [((), [nan, inf, -inf, 1e-4])], indexed={"x": 4}, canonical=True)
    good("words", '[null, "inf", "-INFINITY", "1e-4"]', [((), [nan, inf, -inf, 1e-4])],
         indexed={"x": 4}, spec="tensor(x[4])")
    good("mapped", '{"type":"tensor<float>(x{})","cells":{"a":1.0,"é \\"":2.5}}',
         [(("a",), [1.0]), (('é "',), [2.5])], mapped=["x"], dtype="f32", canonical=True)
    good("mapped_direct", '{"cells":2.0,"b":3}', [(("cells",), [2.0]), (("b",), [3.0])], mapped=["x"], spec="tensor(x{})")
    good("mapped_none", '{"type":"tensor(x{})","cells":{}}', [], mapped=["x"], canonical=True)
    good("mapped_two", '{"type":"tensor(k{},l{})","cells":[{"address":{"k":"p","l":"q"},"value":1.0}]}',
         [(("p", "q"), [1.0])], mapped=["k", "l"], canonical=True)
    good("mapped_numbers", '{"cells":[{"value":1,"address":{"x":7}}]}', [(("7",), [1.0])], mapped=["x"], spec="tensor(x{})")
    good("empty_label", '{"type":"tensor(x{})","cells":{"":1.0}}', [(("",), [1.0])], mapped=["x"], notes=["empty-label"])
    good("blocks", '{"type":"tensor(k{},x[2])","blocks":{"a":[1.0,2.0],"b":[3.0,4.0]}}', ab,
         mapped=["k"], indexed={"x": 2}, canonical=True)
    good("blocks_two", '{"type":"tensor(k{},l{},x[2])","blocks":[{"address":{"k":"p","l":"q"},"values":[1.0,2.0]}]}', two,
         mapped=["k", "l"], indexed={"x": 2}, canonical=True)
    good("blocks_values_first", '{"type":"tensor(k{},l{},x[2])","blocks":[{"values":"3FF00000000000004000000000000000",'
         '"address":{"l":"q","k":"p"}}]}', two, mapped=["k", "l"], indexed={"x": 2})
    good("long_dense", '{"type":"tensor(x[3])","cells":[{"address":{"x":"2"},"value":7},{"address":{"x":0},"value":1}]}',
         [((), [1.0, 0.0, 7.0])], indexed={"x": 3})
    good("long_blocks", '{"type":"tensor(k{},x[2])","cells":[{"address":{"k":"b","x":"1"},"value":4},'
         '{"address":{"k":"a","x":"0"},"value":1},{"address":{"x":"0","k":"b"},"value":3}]}',
         [(("b",), [3.0, 4.0]), (("a",), [1.0, 0.0])], mapped=["k"], indexed={"x": 2})
    good("hex", '"ff00"', [((), [-1, 0])], indexed={"x": 2}, dtype="i8", spec="tensor<int8>(x[2])")
    good("hex_wider", '{"type":"tensor<float>(x[2])","values":"3F80C000"}', [((), [1.0, -2.0])], indexed={"x": 2}, dtype="f32")
    good("literal", "tensor(y[2],x[3]):[[1,2,3],[4,5,6]]", [((), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0])], indexed={"x": 3, "y": 2})
    good("literal_untyped", "{{x:a,y:'b c'}:1, {x:a,y:c}:2.5}", [(("a", "b c"), [1.0]), (("a", "c"), [2.5])], mapped=["x", "y"])
    good("literal_blocks", "tensor(k{},l{},x[2]):{p:{q:[1, 2]}}", two, mapped=["k", "l"], indexed={"x": 2})
    good("literal_hex", "tensor<int8>(k{},x[2]): {a: a102, b: A304}", [(("a",), [-95, 2]), (("b",), [-93, 4])],
         mapped=["k"], indexed={"x": 2}, dtype="i8")
    good("literal_number", "-1.5e3", [((), [-1500.0])])
    good("literal_unbound", "tensor(x[],y[2]):[[1,2],[3,4],[5,6]]", six, indexed={"x": 3, "y": 2})

    dense, sparse, mixed = "tensor(x[2])", "tensor(x{})", "tensor(k{},x[2])"
    bad("type_size", "a size is 0", '{"type":"tensor(x[¦0])","values":[]}')
    bad("type_twice", "two dimensions are called x", '{"type":"tensor(x{},¦x[1])","cells":{}}')
    bad("type_float_scalar", "a scalar is a double", '{"type":"¦tensor<float>()","values":[1]}')
    bad("type_other", "not the type that was given", '{"type":¦"tensor(x[3])","values":[1,2,3]}', spec=dense)
    bad("too_few", "one value of two", "¦[1]", spec=dense)
    bad("too_many", "three values of two", "[1,2,¦3]", spec=dense)
    bad("none", "no value of two", "¦[]", spec=dense)
    bad("nested_otherwise", "a list of two where three are expected", '[[1,2¦],[3,4],[5,6]]', spec="tensor(x[2],y[3])")
    bad("nested_deeper", "more lists than dimensions", "[¦[1,2]]", spec=dense)
    bad("nested_by_halves", "nested by two of three dimensions", "[[¦1,2]]", spec="tensor(x[1],y[1],z[2])")
    bad("no_number", "a word is no number", '[1,¦"one"]', spec=dense)
    bad("true", "true is no number", '[1,¦true]', spec=dense)
    bad("int8_fraction", "1.5 is no int8", "[1,¦1.5]", spec="tensor<int8>(x[2])")
    bad("int8_large", "128 is no int8", "[1,¦128]", spec="tensor<int8>(x[2])")
    bad("float_large", "1e39 is no float", "[1,¦1e39]", spec="tensor<float>(x[2])")
    bad("hex_odd", "an odd number of digits", '¦"ff0"', spec="tensor<int8>(x[2])")
    bad("hex_letters", "no hexadecimal digit", '¦"fg00"', spec="tensor<int8>(x[2])")
    bad("hex_wide_int8", "digits of bfloat16 for int8", '¦"3f803f80"', spec="tensor<int8>(x[2])")
    bad("label_twice", "a label is there twice", '{"a":1,"b":2,"a":¦3}', spec=sparse)
    bad("block_twice", "a block is there twice", '{"blocks":{"a":[1,2],"a":¦[1,2]}}', spec=mixed)
    bad("cell_twice", "a cell is there twice",
        '[{"address":{"x":"0"},"value":1},{"address":¦{"x":"0"},"value":1}]', spec=dense)
    bad("dimension_unknown", "no dimension y", '[{"address":{"y":¦"0"},"value":1}]', spec=dense)
    bad("dimension_missing", "no label for k", '[{"address":¦{"x":"0"},"value":1}]', spec=mixed)
    bad("dimension_twice", "x stands twice", '[{"address":{"x":"0","x":¦"1"},"value":1}]', spec=dense)
    bad("position_beyond", "position 2 of 2", '[{"address":{"x":¦"2"},"value":1}]', spec=dense)
    bad("no_value", "a cell without a value", '[¦{"address":{"x":"1"}}]', spec=dense)
    bad("no_address", "a cell without an address", '[¦{"value":1}]', spec=dense)
    bad("member_unknown", "no member of a tensor", '{"valeus":¦[1,2]}', spec=dense)
    bad("values_twice", "values twice", '{"values":[1,2],"values":¦[1,2]}', spec=dense)
    bad("cut", "the end is missing", '{"type":"tensor(x[2])","values":[1,2¦')
    bad("cut_text", "a text has no end", '{"a¦', spec=sparse)
    bad("left_over", "bytes after the end", '[1,2]¦]', spec=dense)
    bad("comma", "a comma too many", '[1,2,¦]', spec=dense)
    bad("surrogate", "half of a surrogate", '{"¦\\ud800":1}', spec=sparse)
    bad("overflow", "2^64 bytes or more", '{"type":"tensor(x[2147483647],y[2147483647],z[2147483647])","values":[1]}')
    bad("zeros", "a small file that asks for much", '{"type":"tensor(x[2147483647])","cells":[]}', kind="limit")
    bad("deep", "too deep", '{"skipped":' + "[" * 100 + ',"type":"tensor()"}', kind="limit")
    bad("literal_type", "no cell type", "tensor<¦half>(x[1]):[1]")
    bad("literal_label", "a label is missing", "tensor(x{}):{¦:1}")
    bad("literal_quote", "a label has no end", "tensor(x{}):{¦'a:1}")
    bad("literal_hex", "digits of another width", "tensor<float>(x[2]):¦3F80C000")
    bad("literal_dimension", "other dimensions than the first address", "{{x:a}:1, {y:¦b}:1}")


if __name__ == "__main__":
    raise SystemExit(common.run(make))
