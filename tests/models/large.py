#!/usr/bin/env python3
"""A network of more than 2 GB: written, opened, compiled untuned and compared with onnxruntime, with the memory that each
step takes. By hand only; needs numpy, 4 times the network's size on the disk, and onnxruntime for the comparison.

    large.py --lathe-cli build/ci/bin/lathe-cli --folder FOLDER [--gigabytes 2.4] [--form external|single] [--open-only]

It is a stack of matrix products, every other with its weight stored by rows of outputs. The form is a model with its weights
in a file beside it, or one file, which onnxruntime cannot read.
"""

import argparse
import os
import subprocess
import sys
import threading
import time

SIDE = 4096
MATRIX = SIDE * SIDE * 4
TOLERANCE = 1e-4


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def head(field, size):
    return varint(field << 3 | 2) + varint(size)


def message(field, contents):
    contents = contents.encode() if isinstance(contents, str) else contents
    return head(field, len(contents)) + contents


def port(name):
    shape = message(1, number(1, 1)) + message(1, number(1, SIDE))
    return message(1, name) + message(2, message(1, number(1, 1) + message(2, shape)))


def tensor(name, rank):
    return number(1, SIDE) * rank + number(2, 1) + message(8, name)


def layers(count):
    nodes, last = b"", "x"
    for i in range(count):
        product, result = f"p{i}", "y" if i == count - 1 else f"t{i}"
        inputs = message(1, last) + message(1, f"w{i}")
        if i % 2 == 0:
            nodes += message(1, inputs + message(2, product) + message(4, "MatMul"))
        else:
            by_rows = message(5, message(1, "transB") + number(3, 1) + number(20, 2))
            nodes += message(1, inputs + message(1, f"b{i}") + message(2, product) + message(4, "Gemm") + by_rows)
        nodes += message(1, message(1, product) + message(2, result) + message(4, "Tanh"))
        last = result
    return nodes


def write(path, count, form, numpy):
    """Weights are random; each is written as soon as it is made."""
    random = numpy.random.default_rng(1)
    matrix = lambda: (random.standard_normal((SIDE, SIDE), dtype=numpy.float32) * (1.2 / SIDE ** 0.5)).tobytes()
    biases = b"".join(message(5, tensor(f"b{i}", 1) + message(9, random.standard_normal(SIDE, dtype=numpy.float32).tobytes()))
                      for i in range(1, count, 2))
    start = message(2, "large") + layers(count) + message(11, port("x")) + message(12, port("y")) + biases
    model = number(1, 8) + message(8, number(2, 17))
    if form == "external":
        entries = lambda i: [("location", "weights.bin"), ("offset", str(i * MATRIX)), ("length", str(MATRIX))]
        weights = b"".join(message(5, tensor(f"w{i}", 2) + b"".join(message(13, message(1, k) + message(2, v)) for k, v in entries(i)) + number(14, 1))
                           for i in range(count))
        with open(os.path.join(os.path.dirname(path), "weights.bin"), "wb") as out:
            for _ in range(count):
                out.write(matrix())
        with open(path, "wb") as out:
            out.write(model + message(7, start + weights))
        return
    before = [tensor(f"w{i}", 2) + head(9, MATRIX) for i in range(count)]
    frames = [head(5, len(b) + MATRIX) + b for b in before]
    with open(path, "wb") as out:
        out.write(model + head(7, len(start) + sum(len(f) + MATRIX for f in frames)) + start)
        for frame in frames:
            out.write(frame)
            out.write(matrix())


class Memory(threading.Thread):
    """Looks at a process and all below it: the most that is no file's, together, and the most that one of them has resident."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.own, self.resident, self.done = pid, 0, 0, False

    def family(self, pid):
        yield pid
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as file:
                children = file.read().split()
        except OSError:
            return
        for child in children:
            yield from self.family(int(child))

    def run(self):
        while not self.done:
            total = 0
            for pid in self.family(self.pid):
                try:
                    with open(f"/proc/{pid}/status") as file:
                        sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file if line.startswith(("RssAnon:", "RssShmem:", "VmHWM:"))}
                    total += sizes.get("RssAnon", 0) + sizes.get("RssShmem", 0)
                    self.resident = max(self.resident, sizes.get("VmHWM", 0))
                except (OSError, ValueError):
                    pass
            self.own = max(self.own, total)
            time.sleep(0.005)


def step(name, words, size):
    began = time.time()
    with open(os.devnull, "w") as nothing:
        process = subprocess.Popen(words, stdout=nothing, stderr=subprocess.PIPE, text=True)
        memory = Memory(process.pid)
        memory.start()
        errors = process.stderr.read()
        process.wait()
    memory.done = True
    memory.join()
    print(f"{name:<10} {time.time() - began:>7.1f} s   largest process {memory.resident / 1e6:>7.0f} MB resident, "
          f"of all processes {memory.own / 1e6:>6.0f} MB no file's   (weights {size / 1e6:.0f} MB)", flush=True)
    if process.returncode != 0:
        print(f"{name} failed: {errors.strip()[:500]}")
        sys.exit(1)


def main():
    import numpy

    parser = argparse.ArgumentParser()
    parser.add_argument("--lathe-cli", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--gigabytes", type=float, default=2.4)
    parser.add_argument("--form", choices=["external", "single"], default="external")
    parser.add_argument("--open-only", action="store_true")
    arguments = parser.parse_args()
    folder = os.path.join(arguments.folder, arguments.form)
    os.makedirs(folder, exist_ok=True)
    model, library = os.path.join(folder, "large.onnx"), os.path.join(folder, "large.so")
    count = -(-int(arguments.gigabytes * 1e9) // MATRIX)
    write(model, count, arguments.form, numpy)
    step("tasks", [arguments.lathe_cli, "tasks", model], count * MATRIX)
    if arguments.open_only:
        return
    step("compile", [arguments.lathe_cli, "compile", model, "--allow-default", "--no-bench", "-o", library], count * MATRIX)
    x = numpy.random.default_rng(2).standard_normal((1, SIDE), dtype=numpy.float32)
    numpy.save(os.path.join(folder, "x.npy"), x)
    step("run", [arguments.lathe_cli, "run", library, "--input", "x=" + os.path.join(folder, "x.npy"), "--output", folder], count * MATRIX)
    print(f"library of {os.path.getsize(library) / 1e6:.0f} MB")
    if arguments.form == "single":
        return
    import onnxruntime

    expected = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    error = float(numpy.abs(numpy.load(os.path.join(folder, "y.npy")) - expected).max() / numpy.abs(expected).max())
    print(f"relative error against onnxruntime {error:.1e}: {'ok' if error <= TOLERANCE else 'WRONG'}")
    sys.exit(0 if error <= TOLERANCE else 1)


if __name__ == "__main__":
    main()
