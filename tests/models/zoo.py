#!/usr/bin/env python3
"""Networks of the zoo: written as ONNX by lathe-cli zoo export, compiled by lathe-cli without tuning, and compared with what
onnxruntime computes from the written file. By hand only; needs onnxruntime, numpy.

    zoo.py --lathe-cli build/ci/bin/lathe-cli --folder FOLDER [NAME...]
"""

import argparse
import json
import os
import subprocess
import sys
import time

TOLERANCE = 1e-4


def example(numpy, port):
    """Pixels and noise of one spread; token ids that every vocabulary has; a mask that hides the end."""
    random = numpy.random.default_rng(1)
    if "int64" not in port.type:
        return random.standard_normal(port.shape).astype(numpy.float32)
    if "mask" in port.name:
        mask = numpy.ones(port.shape, numpy.int64)
        mask[:, 3 * port.shape[1] // 4:] = 0
        return mask
    return random.integers(0, 1000, port.shape)


def check(name, arguments):
    import numpy
    import onnxruntime

    base = os.path.join(arguments.folder, name)
    run = lambda *words: subprocess.run([arguments.lathe_cli, *words], capture_output=True, text=True)
    exported = run("zoo", "export", name, "-o", base + ".onnx")
    if exported.returncode != 0:
        return 0, None, "not exported: " + exported.stderr.strip()[:300]
    session = onnxruntime.InferenceSession(base + ".onnx", providers=["CPUExecutionProvider"])
    inputs = {port.name: example(numpy, port) for port in session.get_inputs()}
    expected = session.run(None, inputs)
    began = time.time()
    compiled = run("compile", "zoo:" + name, "--allow-default", "-o", base + ".so")
    seconds = time.time() - began
    if compiled.returncode != 0:
        return seconds, None, "refused: " + compiled.stderr.strip()[:300]
    words = []
    for key, value in inputs.items():
        numpy.save(f"{base}-{key}.npy", value)
        words += ["--input", f"{key}={base}-{key}.npy"]
    ran = run("run", base + ".so", *words, "--output", base + "-out")
    if ran.returncode != 0:
        return seconds, None, "does not run: " + ran.stderr.strip()[:300]
    errors = []
    for port, wanted in zip(session.get_outputs(), expected):
        got = numpy.load(os.path.join(base + "-out", port.name + ".npy"))
        errors.append(float(numpy.abs(got - wanted).max() / numpy.abs(wanted).max()))
    good = all(error <= TOLERANCE for error in errors) # not for NaN
    return seconds, max(errors), "ok" if good else "WRONG"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lathe-cli", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    listed = json.loads(subprocess.run([arguments.lathe_cli, "zoo", "list", "--json"], capture_output=True, text=True, check=True).stdout)
    bad = 0
    print(f"{'network':<20} {'compile s':>9} {'rel. error':>10}  result", flush=True)
    for name in arguments.names or [row["name"] for row in listed]:
        seconds, error, result = check(name, arguments)
        bad += result != "ok"
        shown = "-" if error is None else f"{error:.1e}"
        print(f"{name:<20} {seconds:>9.1f} {shown:>10}  {result}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
