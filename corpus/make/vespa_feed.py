"""Vespa's feeds: a tensor field of many documents.

Texts are written out by hand; a `¦` in a bad one marks the byte at which it is refused.
"""

import common
from vespa_text import MARK, shown


def good(name, text, blocks, indexed, dtype="f64", options=None, canonical=False, mapped=("id",), notes=None,
         unwritable=None, others=None):
    """A readable feed; `others` is what documents have besides, by label."""
    seen = shown("vespa-feed", dtype, list(mapped), indexed, blocks, notes)
    if others:
        seen["metadata"] = {"vespa-feed:documents": others}
    common.good("vespa-feed", name + ".jsonl", text.encode(), seen, options=options, canonical=canonical,
                unwritable=unwritable)


def bad(name, why, text, options=None, **more):
    at = len(text.split(MARK)[0].encode()) if MARK in text else None
    common.bad("vespa-feed", name + ".jsonl", text.replace(MARK, "").encode(), at, why, options=options, **more)


def make():
    ab = [(("a",), [1.0, 2.0]), (("b",), [3.0, 4.0])]
    x = {"x": 2}
    given = {"field": "e", "type": "tensor(x[2])"}
    first = '{"put":"id:doc:doc::a","fields":{"tensor":{"type":"tensor(x[2])","values":[1.0,2.0]}}}\n'
    good("lines", first + '{"put":"id:doc:doc::b","fields":{"tensor":{"values":[3.0,4.0]}}}\n', ab, x, canonical=True)
    good("other_names", first.replace("id:doc:doc", "id:ns:music").replace('"tensor":', '"e":'), ab[:1], x, canonical=True)
    good("floats", '{"put":"id:doc:doc::a b:c","fields":{"tensor":{"type":"tensor<float>(x[1],y[2])","values":[[1.5,-0.0]]}}}\n',
         [(("a b:c",), [1.5, -0.0])], {"x": 1, "y": 2}, dtype="f32", canonical=True)
    good("scalars", '{"put":"id:doc:doc::a","fields":{"tensor":{"type":"tensor()","values":[1.5]}}}\n',
         [(("a",), [1.5])], {}, canonical=True)
    good("visit", '{"id":"id:n:s::a","fields":{"title":"t","e":{"type":"tensor(x[2])","values":[1,2]}}}\n\n'
         '{"fields":{"e":{"cells":[{"address":{"x":"1"},"value":4},{"address":{"x":"0"},"value":3}]}},"id":"id:n:s::b"}',
         ab, x, options={"field": "e"}, others={"a": {"fields": {"title": '"t"'}}})
    good("list", '[{"put":"id:n:s::a","fields":{"e":[1,2]}},\n{"put":"id:n:s::b","fields":{"e":"40080000000000004010000000000000"}}]\n',
         ab, x, options=given)
    good("answer", '{"pathId":"/document/v1/","documents":[{"id":"id:n:s:g=1:a","fields":{"e":{"values":[1,2]}}},'
         '{"id":"id:n:s:g=1:b","fields":{"e":{"values":[3,4]}}}],"documentCount":2}', ab, x, options=given)
    good("full_ids", '{"put":"id:n:s::a","fields":{"e":[1,2]}}\n{"put":"id:n:t::a","fields":{"e":[3,4]}}\n',
         [(("id:n:s::a",), [1.0, 2.0]), (("id:n:t::a",), [3.0, 4.0])], x, options=given)

    # Both labels are as they stand, and only one of them says what ids begin with.
    good("ids_and_others", first + '{"put":"iAd:doc:doc::b","fields":{"tensor":{"values":[3.0,4.0]}}}\n',
         [(("iAd:doc:doc::b",), [3.0, 4.0]), (("id:doc:doc::a",), [1.0, 2.0])], x,
         unwritable="only some of the labels are whole ids of documents")

    def one(value, spec="tensor(x[2])", id="id:doc:doc::a", more=""):
        return f'{{"put":"{id}",{more}"fields":{{"tensor":{{"type":"{spec}",{value}}}}}}}\n'

    a = ab[:1]
    good("bfloat16", one('"values":[1.5,-2.0]', "tensor<bfloat16>(x[2])"), [(("a",), [1.5, -2.0])], x, dtype="bf16", canonical=True)
    good("int8", one('"values":[-128,127]', "tensor<int8>(x[2])"), [(("a",), [-128, 127])], x, dtype="i8", canonical=True)
    good("hex", one('"values":"80ff"', "tensor<int8>(x[2])"), [(("a",), [-128, -1])], x, dtype="i8")
    good("special", one('"values":["NaN","-Infinity"]'), [(("a",), [float("nan"), float("-inf")])], x, canonical=True)
    good("null", one('"values":[null,"inf"]'), [(("a",), [float("nan"), float("inf")])], x)
    good("escaped", one('"values":[1.0,2.0]', id=r'id:doc:doc::é \"\\\n'), [(('é "\\\n',), [1.0, 2.0])], x, canonical=True)
    good("condition", one('"values":[1.0,2.0]', more='"condition":"doc.x == 1","create":true,'), a, x, canonical=True,
         others={"a": {"condition": '"doc.x == 1"', "create": "true"}})
    good("update", '{"update":"id:doc:doc::a","fields":{"tensor":{"assign":{"type":"tensor(x[2])","values":[1.0,2.0]}}}}\n',
         a, x, canonical=True)
    good("update_others", '{"update":"id:doc:doc::a","create":true,"fields":{"title":{"assign":"t"},"n":{"increment":1},'
         '"tensor":{"assign":{"type":"tensor(x[2])","values":[1.0,2.0]}}}}\n', a, x, canonical=True,
         others={"a": {"create": "true", "fields": {"title": '"t"'}, "updates": {"n": '{"increment":1}'}}})
    good("others", '{"put":"id:doc:doc::a","fields":{"title":"é \\"","list":[1, {"b":null}],"tensor":{"type":"tensor(x[2])",'
         '"values":[1.0,2.0]}}}\n{"put":"id:doc:doc::b","fields":{"tensor":{"values":[3.0,4.0]}}}\n', ab, x, canonical=True,
         others={"a": {"fields": {"title": '"é \\""', "list": '[1, {"b":null}]'}}})
    good("plain", '{"text":"t","id":"a","embedding":[1,2]}\n{"embedding":[3,4.0],"id":7}\n',
         [(("7",), [3.0, 4.0]), (("a",), [1.0, 2.0])], x, options={"field": "embedding", "id": "id"},
         others={"a": {"fields": {"text": '"t"'}}})
    good("plain_nested", '[{"id":"a","e":[[1],[2]]}]', [(("a",), [1.0, 2.0])], {"x": 2, "y": 1},
         options={"field": "e", "id": "id"})
    good("bare_ids", one('"values":[1.0,2.0]', id="a"), a, x)
    good("no_ids", one('"values":[1.0,2.0]', id="id:doc:doc::"), [(("",), [1.0, 2.0])], x, canonical=True)
    good("flat", one('"values":[1,2,3,4]', "tensor(y[2],x[2])"), [(("a",), [1.0, 2.0, 3.0, 4.0])], {"x": 2, "y": 2})

    # Fields with mapped dimensions: the id is one label of several, sorted by the names of dimensions.
    good("mapped_blocks", one('"blocks":{"p":[1.0,2.0],"q":[3.0,4.0]}', "tensor<float>(k{},x[2])")
         + '{"put":"id:doc:doc::b","fields":{"tensor":{"blocks":{"p":[5.0,6.0]}}}}\n',
         [(("a", "p"), [1.0, 2.0]), (("a", "q"), [3.0, 4.0]), (("b", "p"), [5.0, 6.0])], x, dtype="f32",
         canonical=True, mapped=["id", "k"])
    good("mapped_cells", one('"cells":{"p":1.5,"q r":"NaN"}', "tensor(category{})"),
         [(("p", "a"), [1.5]), (("q r", "a"), [float("nan")])], {}, canonical=True, mapped=["category", "id"])
    good("mapped_two", one('"blocks":[{"address":{"c":"p","z":"q"},"values":[1,-2]}]', "tensor<int8>(c{},x[2],z{})"),
         [(("p", "a", "q"), [1, -2])], x, dtype="i8", canonical=True, mapped=["c", "id", "z"])
    good("mapped_long", one('"cells":[{"address":{"x":"1","k":"p"},"value":4},{"address":{"k":"p","x":"0"},"value":3}]',
                            "tensor(k{},x[2])") + '{"put":"id:doc:doc::b","fields":{"tensor":{"q":[5,6]}}}\n',
         [(("a", "p"), [3.0, 4.0]), (("b", "q"), [5.0, 6.0])], x, mapped=["id", "k"])
    good("mapped_none", one('"cells":{}', "tensor(k{})") + '{"put":"id:doc:doc::b","fields":{"tensor":{"cells":{"p":1}}}}\n',
         [(("b", "p"), [1.0])], {}, mapped=["id", "k"], notes=["skipped"])

    line = '{"put":"id:n:s::a","fields":{"e":[1,2]}}\n'
    bad("nothing", "no document", "¦\n", given)
    bad("no_id", "a document without an id", line + '¦{"fields":{"e":[1,2]}}\n', given)
    bad("no_fields", "a document without fields", line + '¦{"put":"id:n:s::b"}\n', given)
    bad("no_field", "a document without the field", line + '¦{"put":"id:n:s::b","fields":{"f":[1,2]}}\n', given)
    bad("other_shape", "three values of two", line + '{"put":"id:n:s::b","fields":{"e":[1,2,¦3]}}\n', given)
    bad("other_type", "another type than the first",
        line + '{"put":"id:n:s::b","fields":{"e":{"type":¦"tensor(y[2])","values":[1,2]}}}\n', given)
    bad("other_prefix", "another schema", line + '{"put":¦"id:n:t::b","fields":{"e":[1,2]}}\n',
        {**given, "ids": "short"})
    bad("id_twice", "an id is there twice", line + line.replace('"id:', '¦"id:'), given)
    bad("put_twice", "put stands twice", '{"put":"id:n:s::a","put":¦"id:n:s::a"}\n', given)
    bad("update", "an update that does not assign",
        '{"update":"id:n:s::a","fields":{"e":¦{"modify":{"operation":"add","cells":{}}}}}\n', given)
    bad("remove", "a removal", '{"remove":¦"id:n:s::a"}\n', given)
    plain = {"field": "e", "id": "id"}
    bad("plain_no_id", "a plain object without an id", '{"id":1,"e":[1,2]}\n¦{"e":[1,2]}\n', plain)
    bad("plain_id_twice", "an id is there twice", '{"id":1,"id":¦2,"e":[1,2]}\n', plain)
    bad("plain_empty", "an empty list", '{"id":1,"e":¦[]}\n', plain)
    bad("no_document", "a number", line + "¦5\n", given)
    bad("cut", "the end is missing", '{"put":"id:n:s::a","fields":{"e":[1,2¦', given)
    mapped = {"field": "e", "type": "tensor(k{})"}
    bad("mapped_id", "a dimension called id", '{"put":"id:n:s::a","fields":{"e":{}}}\n',
        {"field": "e", "type": "tensor(id{})"}, kind="unsupported")
    bad("mapped_twice", "a label is there twice", '{"put":"id:n:s::a","fields":{"e":{"cells":{"p":1,"p":¦2}}}}\n', mapped)
    bad("mapped_id_twice", "an id is there twice", '{"put":"id:n:s::a","fields":{"e":{"p":1}}}\n'
        '{"put":¦"id:n:s::a","fields":{"e":{"q":1}}}\n', mapped)
    bad("mapped_values", "values without labels", '{"put":"id:n:s::a","fields":{"e":¦[1,2]}}\n', mapped)


if __name__ == "__main__":
    raise SystemExit(common.run(make))
