"""TENS files, byte by byte, and what they mean.

Values are given as the file has them: stored elements only, ascending global index. What they stand for is
worked out from the definition of packing, by walking every orbit: slow, short, and nothing like a closed form.
An element is a number, or a tuple of numbers for complex, quaternions and octonions.
"""

import itertools
import math
import struct

import common
import quad

V09, V10 = 0x9000, 0x10000
IX = 1  # header flag: index-value storage
PK = 1  # symmetry flag: the data is packed by this symmetry
SP = 1  # dimension flag: sparse
ALPHABET = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

NEGATE, CONJUGATE = 1, 2
OPERATIONS = {"x": 0, "-x": NEGATE, "x*": CONJUGATE, "-x*": NEGATE | CONJUGATE}


class Bits:
    """An IEEE number given by its bits: quads, and NaNs whose payload matters."""

    def __init__(self, bits, size):
        self.bits, self.size = bits, size

    def __neg__(self):
        return Bits(self.bits ^ 1 << 8 * self.size - 1, self.size)

    def __repr__(self):
        return hex(self.bits)


def q(text):
    """A quadruple precision number."""
    return Bits(quad.bits(text), 16)


# The parts of a file, in file order


def header(number="IEEE8", arity=1, order=0, flags=0, version=V10):
    token, size = number[:4].encode(), int(number[4:])
    return struct.pack("<4sI4s5I", b"TENS", version, token, size, arity, order, flags, 0)


def dim(length, name, flags=0):
    return struct.pack("<IBBH", length, name, flags, 0)


def chunk(magic, payload):
    return magic + struct.pack("<Q", 16 + len(payload)) + payload


def symmetry(operation, index_map, flags):
    head = struct.pack("<BB", flags, len(operation))
    return chunk(b"SYMMETRY", pad8(head + operation + index_map))


def element(value, number, big=None):
    """One element; `big` overrides the byte order that the number type states (IEEE states none: little)."""
    token, size = number[:4], int(number[4:])
    order = "big" if (token in ("UINT", "SINT") if big is None else big) else "little"
    return b"".join(_number(part, token, size, order) for part in parts(value))


def _number(value, token, size, order):
    if token != "IEEE":
        return value.to_bytes(size, order, signed=token.lower() == "sint")
    if isinstance(value, Bits):
        return value.bits.to_bytes(size, order)
    code = {4: "f", 8: "d"}[size]
    return struct.pack((">" if order == "big" else "<") + code, value)


def pad8(data):
    return data + bytes(-len(data) % 8)


def parts(value):
    return value if isinstance(value, tuple) else (value,)


# A whole file


class Tens:
    """All of a TENS 1.0 file but its values. `symmetries` are (operation, index map, packed)."""

    def __init__(self, number, shape, arity=1, names=None, sp=(), symmetries=(), before=(), after=()):
        self.number, self.shape, self.arity = number, tuple(shape), arity
        self.names = ALPHABET[: len(shape)] if names is None else names
        self.sp, self.symmetries, self.before, self.after = sp, symmetries, before, after

    def head(self, flags=0):
        """Everything up to the data."""
        out = header(self.number, self.arity, len(self.shape), flags)
        for k, (length, name) in enumerate(zip(self.shape, self.names)):
            out += dim(length, name, SP if k in self.sp else 0)
        for operation, index_map, packed in self.symmetries:
            out += symmetry(operation.encode(), index_map.encode("latin-1"), PK if packed else 0)
        return out + b"".join(chunk(*each) for each in self.before)

    def dense(self, values, big=None):
        data = b"".join(element(value, self.number, big) for value in values)
        size = struct.pack("<Q", len(pad8(bytes(16) + data)))
        return self.head() + b"DENSDATA" + size + pad8(data) + b"".join(chunk(*each) for each in self.after)

    def pairs(self, cells, big=None):
        """`cells` are (index tuple, value), in any order."""
        out = self.head(IX) + struct.pack("<Q", len(cells))
        for at, value in cells:
            out += struct.pack("<Q", self.global_index(at)) + element(value, self.number, big)
        return out

    # Packing, from its definition: T[i0, i1, ...] = s(T[i_m0, i_m1, ...])

    def global_index(self, at):
        return sum(i * math.prod(self.shape[:k]) for k, i in enumerate(at))

    def permutation(self, index_map):
        return [self.names.index(name) for name in index_map.encode("latin-1")]

    def orbit(self, at):
        """Every (index tuple, operation) that the packed symmetries lead to from `at`."""
        real = ~CONJUGATE if self.arity == 1 else ~0  # conjugation does nothing to a real number
        steps = [(self.permutation(m), OPERATIONS[s] & real) for s, m, packed in self.symmetries if packed]
        found = {(at, 0)}
        todo = [(at, 0)]
        while todo:
            tuple_, operation = todo.pop()
            for permutation, s in steps:
                image = (tuple(tuple_[k] for k in permutation), operation ^ s)
                if image not in found:
                    found.add(image)
                    todo.append(image)
        return found

    def is_stored(self, at):
        """Whether `at` is the smallest of its orbit and not forced to zero by T = -T."""
        orbit = self.orbit(at)
        smallest = min(self.global_index(u) for u, _ in orbit)
        return self.global_index(at) == smallest and (at, NEGATE) not in orbit

    def stored(self):
        """The index tuples of a dense file's values, ascending global index."""
        if 0 in self.shape:
            return []
        everything = itertools.product(*map(range, self.shape))
        return sorted(filter(self.is_stored, everything), key=self.global_index)

    def unpack(self, cells):
        """The value of every cell that the given ones determine, by index tuple."""
        values = {}
        for at, value in cells:
            for u, operation in sorted(self.orbit(at)):
                image = value if u == at else apply(operation, value)
                assert repr(values.setdefault(u, image)) == repr(image), f"{u} has two values"
        return values

    # What `show --json` says

    def show_dense(self, values):
        stored = self.stored()
        assert len(values) == len(stored), f"{len(stored)} values are stored"
        cells = self.unpack(zip(stored, values))
        rows = itertools.product(*map(range, self.shape)) if 0 not in self.shape else ()
        return self.show("dense", data=[self.shown(cells.get(at)) for at in rows])

    def show_pairs(self, cells):
        cells = sorted(self.unpack(cells).items(), key=lambda cell: self.global_index(cell[0]))
        return self.show("sparse", cells=[{"at": list(at), "data": [self.shown(value)]} for at, value in cells])

    def show(self, storage, **values):
        metadata = {"tens:version": "1.0"}
        chunks = [(each, False) for each in self.before] + [(each, True) for each in self.after]
        if chunks:
            metadata["tens:chunks"] = [
                {"magic": magic.decode(), "after": after, "data": common.b64(payload)}
                for (magic, payload), after in chunks
            ]
        unnamed = self.names == ALPHABET[: len(self.names)] or not any(self.names)
        tensor = {
            "key": [],
            "state": None,
            "name": "",
            "dtype": dtype(self.number, self.arity),
            "shape": list(self.shape),
            "dims": common.dims(*self.shape, names=None if unnamed else self.names.decode("latin-1")),
            "storage": storage,
            "symmetries": [
                {"permutation": self.permutation(index_map), "operation": operation, "packed": packed}
                for operation, index_map, packed in self.symmetries
            ],
        }
        return {"format": "tens", "metadata": metadata, "tensors": [{**tensor, **values}]}

    def shown(self, value):
        """An element in JSON; None is a cell that nothing was stored for: zero."""
        if value is None:
            value = (q("0") if self.number == "IEEE16" else 0,) * self.arity
        numbers = [shown_number(part, self.number) for part in parts(value)]
        return numbers[0] if self.arity == 1 else numbers


def apply(operation, value):
    """The operation on an element: conjugation negates all components but the first."""
    first, *others = parts(value)
    if operation & NEGATE:
        first = -first
    if operation in (NEGATE, CONJUGATE):  # both together leave them as they are
        others = [-part for part in others]
    return (first, *others) if isinstance(value, tuple) else first


def shown_number(value, number):
    if number[:4] != "IEEE":
        return value
    if number == "IEEE16":
        return quad.text(value.bits)
    if isinstance(value, Bits):
        code = {4: "f", 8: "d"}[value.size]
        value = struct.unpack("<" + code, value.bits.to_bytes(value.size, "little"))[0]
    return common.real(common.f32(value) if number == "IEEE4" else value)


def dtype(number, arity):
    kind = {"uint": "u", "sint": "i", "ieee": "f"}[number[:4].lower()]
    bits = 8 * int(number[4:])
    if arity == 1:
        return f"{kind}{bits}"
    if arity == 2 and kind == "f":
        return f"c{2 * bits}"
    return {2: "complex", 4: "quaternion", 8: "octonion"}[arity] + f"<{kind}{bits}>"
