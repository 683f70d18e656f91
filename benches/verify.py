"""How fast `tenfold verify` reads a 1 GiB raw zTensor with a CRC-32C, beside `cat` of the same file.

Both run in turns on a file that is in the page cache; the table has medians, the ratio to `cat`, and
the peak memory of the process. Usage: python3 benches/verify.py [path to tenfold] [folder]
"""

import os
import statistics
import struct
import subprocess
import sys
import time

ROUNDS = 9
SIZE = 1 << 30


def make(path):
    """A zTensor of one f32 tensor, written from the page of the format."""
    def text(word):
        return bytes([0x60 + len(word)]) + word.encode()

    fields = {"name": text("w"), "offset": b"\x18\x40", "size": b"\x1a" + struct.pack(">I", SIZE)}
    fields |= {"dtype": text("float32"), "layout": text("dense"), "encoding": text("raw")}
    fields["shape"] = b"\x81\x1a" + struct.pack(">I", SIZE // 4)
    entry = b"\xbf" + b"".join(text(key) + value for key, value in fields.items()) + b"\xff"
    index = b"\x81" + entry
    with open(path, "wb") as out:
        out.write(b"ZTEN0001" + bytes(56))
        block = os.urandom(1 << 24)
        for _ in range(SIZE // len(block)):
            out.write(block)
        out.write(index + struct.pack("<Q", len(index)))


def run(words):
    """Seconds and peak bytes of a program."""
    start = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    assert status == 0, words
    return seconds, usage.ru_maxrss * 1024


def main():
    tenfold = sys.argv[1] if len(sys.argv) > 1 else "target/release/tenfold"
    folder = sys.argv[2] if len(sys.argv) > 2 else "target"
    plain, checked = (os.path.join(folder, name) for name in ("bench-plain.zt", "bench-checked.zt"))
    make(plain)
    convert = [tenfold, "convert", plain, checked, "--to", "ztensor", "--force", "--opt", "checksum=crc32c"]
    subprocess.run(convert, check=True)
    os.remove(plain)
    programs = {"cat": ["cat", checked], "tenfold verify": [tenfold, "verify", checked]}
    seen = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, words in programs.items():
            seen[name].append(run(words))
    os.remove(checked)
    least = statistics.median(seconds for seconds, _ in seen["cat"])
    print("| program | median | GB/s | times cat | peak memory |")
    print("|---|---:|---:|---:|---:|")
    for name, runs in seen.items():
        median = statistics.median(seconds for seconds, _ in runs)
        peak = max(peak for _, peak in runs) / (1 << 20)
        print(f"| {name} | {median * 1e3:.0f} ms | {SIZE / median / 1e9:.1f} | {median / least:.2f} | {peak:.0f} MiB |")


if __name__ == "__main__":
    main()
