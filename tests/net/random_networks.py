#!/usr/bin/env python3
"""Compares random networks with ONNX Runtime, by hand.

    pip install onnx==1.19.1 onnxruntime==1.32.0
    tests/net/random_networks.py --program build/release/tests/random_networks --folder FOLDER [--count 100000]

Goes on where an earlier run in the same folder ended: FOLDER/done holds the next seed, FOLDER/wrong what differs. Add
what was run to the ledger in tests/fuzz/README.md.
"""
import argparse, pathlib, shutil, subprocess, sys
import numpy as np, onnx, onnxruntime as ort
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

AT_A_TIME = 500


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            yield from nodes_of(attribute.g)


def has_halves(graph):
    """Whether there are half floats on the way: ONNX Runtime computes them in float32, and drops casts between."""
    half = onnx.TensorProto.FLOAT16
    return (any(i.type.tensor_type.elem_type == half for i in graph.input) or any(t.data_type == half for t in graph.initializer)
            or any(a.name == "to" and a.i == half for n in nodes_of(graph) for a in n.attribute))


def different(lathe, other, slack, halves):
    """The first element that is beyond what code may be off, and what it is in words; or None."""
    if lathe.shape != other.shape or lathe.dtype != other.dtype:
        return None, f"{lathe.dtype}{lathe.shape} and {other.dtype}{other.shape}"
    a, b, s = lathe.reshape(-1), other.reshape(-1), slack.reshape(-1)
    if a.dtype.kind != "f":
        wrong = (a != b) & ~np.isinf(s)
    else:
        digits = {2: 10, 4: 23, 8: 52}[a.dtype.itemsize]
        x, y = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(all="ignore"):
            # ONNX Runtime's own functions are approximations too.
            bound = s + max(64 * 2.0 ** -digits, 2.0**-8 if halves else 0) * np.abs(x) + (2e-6 if a.dtype.itemsize < 8 else 1e-9)
            near = (np.abs(x - y) <= bound) | (x == y) | (np.isnan(x) & np.isnan(y)) | np.isinf(s)
        wrong = ~near
    if not wrong.any():
        return None
    i = int(np.argmax(wrong))
    return i, f"element {i} is {a[i]!r}, {b[i]!r} in ONNX Runtime (within {s[i]:.3g})"


def in_doubles(model, inputs, output):
    """What the standard's own executor gives for an output if all floats are doubles; None where it cannot."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)

    def widen(graph):
        for tensor in graph.initializer:
            if tensor.data_type in floats:
                tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
        for info in [*graph.input, *graph.output, *graph.value_info]:
            if info.type.tensor_type.elem_type in floats:
                info.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.name == "to" and attribute.i in floats:
                    attribute.i = onnx.TensorProto.DOUBLE
                if attribute.HasField("g"):
                    widen(attribute.g)

    widen(wide.graph)
    try:
        with np.errstate(all="ignore"):
            return np.asarray(ReferenceEvaluator(wide).run(
                [output], {n: x.astype(np.float64) if x.dtype.kind == "f" else x for n, x in inputs.items()})[0])
    except Exception:
        return None


def is_nearer(lathe, other, precise):
    """Whether Lathe is right and ONNX Runtime is not, or at least nearer to it."""
    if np.isnan(precise):
        return np.isnan(lathe) and not np.isnan(other)
    return abs(float(lathe) - precise) < abs(float(other) - precise)


def compare(path):
    model = onnx.load(path)
    values, kept = {}, []
    for tensor in model.graph.initializer:
        kind, _, name = tensor.name.partition(":")
        if name:
            values[kind, name] = numpy_helper.to_array(tensor)
        else:
            kept.append(tensor)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        inputs = {i.name: values["value", i.name] for i in model.graph.input}
        results = session.run(None, inputs)
    except Exception as error:
        return "refused", str(error).splitlines()[0]
    for output, result in zip(model.graph.output, results):
        if ("lathe", output.name) not in values:
            return "wrong", "Lathe has no result"
        lathe, result = values["lathe", output.name], np.asarray(result)
        if found := different(lathe, result, values["slack", output.name], has_halves(model.graph)):
            element, text = found
            precise = None if element is None else in_doubles(model, inputs, output.name)
            if precise is not None and precise.shape == lathe.shape and is_nearer(
                    lathe.reshape(-1)[element], result.reshape(-1)[element], precise.reshape(-1)[element]):
                return "inaccurate", f"{output.name}: {text}, {precise.reshape(-1)[element]!r} in doubles"
            return "wrong", f"{output.name}: {text}"
    return "same", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--first", type=int, default=1)
    given = parser.parse_args()
    ort.set_default_logger_severity(4)
    given.folder.mkdir(parents=True, exist_ok=True)
    done = given.folder / "done"
    seed = int(done.read_text()) if done.exists() else given.first
    counts = {"same": 0, "refused": 0, "inaccurate": 0, "wrong": 0}
    while seed < given.first + given.count:
        piece = given.folder / "piece"
        shutil.rmtree(piece, ignore_errors=True)
        piece.mkdir()
        number = min(AT_A_TIME, given.first + given.count - seed)
        made = subprocess.run([given.program, str(seed), str(number), piece], stdout=subprocess.PIPE, text=True)
        with open(given.folder / "wrong", "a") as wrong:
            wrong.write(made.stdout)
            for path in sorted(piece.glob("[0-9]*.onnx"), key=lambda p: int(p.stem)):
                outcome, text = compare(path)
                counts[outcome] += 1
                if outcome != "same":
                    wrong.write(f"{outcome} {path.stem}: {text}\n")
        if made.returncode not in (0, 1):
            sys.exit(f"the program ended with {made.returncode} among the {number} networks from {seed}")
        seed += number
        done.write_text(str(seed))
        print(f"{seed - given.first} networks; now {counts['same']} the same, {counts['refused']} that ONNX Runtime refuses, "
              f"{counts['inaccurate']} where Lathe is nearer to the result in doubles, {counts['wrong']} different", flush=True)


if __name__ == "__main__":
    main()
