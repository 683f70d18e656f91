"""XXH3, 64 bits, seed 0: the checksum of zTensor 2, from its specification."""

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
MASK = 2**64 - 1
P32 = (2654435761, 2246822519, 3266489917)
P64 = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def xxh3(data):
    """The hash of `data`, as a number."""
    size = len(data)
    if size <= 16:
        return short(data, size)
    if size <= 240:
        return middle(data, size)
    return long(data, size)


def word(data, at, size=8):
    return int.from_bytes(data[at : at + size], "little")


def secret(at, size=8):
    return word(SECRET, at, size)


def fold(left, right):
    """Both halves of a product of 128 bits, together."""
    product = left * right
    return product & MASK ^ product >> 64


def avalanche(state):
    state = (state ^ state >> 37) * 0x165667919E3779F9 & MASK
    return state ^ state >> 32


def avalanche64(state):
    state = (state ^ state >> 33) * P64[1] & MASK
    state = (state ^ state >> 29) * P64[2] & MASK
    return state ^ state >> 32


def turn(value, by, bits=64):
    return (value << by | value >> (bits - by)) & (1 << bits) - 1


def short(data, size):
    if size == 0:
        return avalanche64(secret(56) ^ secret(64))
    if size <= 3:
        joined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche64(joined ^ secret(0, 4) ^ secret(4, 4))
    if size <= 8:
        joined = word(data, size - 4, 4) + (word(data, 0, 4) << 32) & MASK
        state = joined ^ secret(8) ^ secret(16)
        state ^= turn(state, 49) ^ turn(state, 24)
        state = state * 0x9FB21C651E98DF25 & MASK
        state ^= (state >> 35) + size & MASK
        state = state * 0x9FB21C651E98DF25 & MASK
        return state ^ state >> 28
    low = word(data, 0) ^ secret(24) ^ secret(32)
    high = word(data, size - 8) ^ secret(40) ^ secret(48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return avalanche(size + swapped + high + fold(low, high) & MASK)


def mix(data, at, key):
    return fold(word(data, at) ^ secret(key), word(data, at + 8) ^ secret(key + 8))


def middle(data, size):
    state = size * P64[0]
    if size <= 128:
        for step in range((size - 1) // 32, -1, -1):
            state += mix(data, 16 * step, 32 * step) + mix(data, size - 16 * step - 16, 32 * step + 16)
        return avalanche(state & MASK)
    state += sum(mix(data, 16 * step, 16 * step) for step in range(8))
    state = avalanche(state & MASK)
    state += sum(mix(data, 16 * step, 16 * step - 125) for step in range(8, size // 16))
    return avalanche(state + mix(data, size - 16, 119) & MASK)


def long(data, size):
    lanes = [P32[2], *P64[:4], P32[1], P64[4], P32[0]]

    def stripe(at, key):
        for lane in range(8):
            value = word(data, at + 8 * lane)
            mixed = value ^ secret(key + 8 * lane)
            lanes[lane ^ 1] = lanes[lane ^ 1] + value & MASK
            lanes[lane] = lanes[lane] + (mixed & 0xFFFFFFFF) * (mixed >> 32) & MASK

    stripes = (len(SECRET) - 64) // 8
    block = 64 * stripes
    blocks = (size - 1) // block
    for number in range(blocks):
        for step in range(stripes):
            stripe(number * block + 64 * step, 8 * step)
        for lane in range(8):
            value = lanes[lane] ^ lanes[lane] >> 47 ^ secret(len(SECRET) - 64 + 8 * lane)
            lanes[lane] = value * P32[0] & MASK
    for step in range((size - 1 - block * blocks) // 64):
        stripe(blocks * block + 64 * step, 8 * step)
    stripe(size - 64, len(SECRET) - 64 - 7)
    state = size * P64[0]
    for pair in range(4):
        state += fold(lanes[2 * pair] ^ secret(11 + 16 * pair), lanes[2 * pair + 1] ^ secret(19 + 16 * pair))
    return avalanche(state & MASK)


assert len(SECRET) == 192
