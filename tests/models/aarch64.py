#!/usr/bin/env python3
"""Whole networks of the zoo, exported here for aarch64 with default schedules: their code must compute on NEON vectors, and run
by an emulator they must compute, with one thread and with two, what this machine's own library computes, which is compared with
the reference executor when it is exported. By hand only; needs numpy, g++-aarch64-linux-gnu, and qemu-user or qemu-user-static.

    aarch64.py --lathe-cli build/ci/bin/lathe-cli --folder FOLDER [NAME...]
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

TOLERANCE = 1e-4
CROSS = "aarch64-linux-gnu-"
ROOT = "/usr/aarch64-linux-gnu"
TARGET = "cpu -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -threads=2"
DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_network.c")


def must(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{os.path.basename(words[0])} failed: {(done.stderr or done.stdout).strip()[:2000]}")
    return done.stdout


def example(numpy, port):
    """Pixels and noise of one spread; token ids that every vocabulary has; a mask that hides the end."""
    random = numpy.random.default_rng(1)
    if port["dtype"] != "int64":
        return random.standard_normal(port["shape"]).astype(port["dtype"])
    if "mask" in port["name"]:
        mask = numpy.ones(port["shape"], numpy.int64)
        mask[:, 3 * port["shape"][1] // 4:] = 0
        return mask
    return random.integers(0, 1000, port["shape"])


def program(compiler, folder, name):
    file = os.path.join(folder, name)
    must(compiler, "-std=c99", "-include", file + ".h", "-DNETWORK=" + name, DRIVER, file + ".so", "-Wl,-rpath,$ORIGIN", "-o", file)
    return file


def check(name, qemu, arguments):
    import numpy

    arm, here = (re.sub(r"\W", "_", name) + end for end in ("_arm", "_here"))
    base = os.path.join(arguments.folder, "")
    must(arguments.lathe_cli, "compile", "zoo:" + name, "--target", TARGET, "--allow-default", "--no-verify", "--no-bench", "-o", base + arm + ".so")
    must(arguments.lathe_cli, "compile", "zoo:" + name, "--allow-default", "--no-bench", "-o", base + here + ".so")
    vectors = len(re.findall(r"\sfml[as]\s+v\d+\.4s", must(CROSS + "objdump", "-d", "--no-show-raw-insn", base + arm + ".so")))

    with open(base + arm + ".json") as file:
        ports = json.load(file)
    inputs = []
    for port in ports["inputs"]:
        inputs.append(f"{base}{arm}-{port['name']}.bin")
        example(numpy, port).tofile(inputs[-1])
    must(program("cc", arguments.folder, here), "2", base + here + "-out", *inputs)
    on_arm = program(CROSS + "gcc", arguments.folder, arm)
    errors, seconds = [], 0.0
    for threads in (1, 2):
        began = time.time()
        must(qemu, "-L", ROOT, on_arm, str(threads), f"{base}{arm}-out{threads}", *inputs)
        seconds = time.time() - began
        for index, port in enumerate(ports["outputs"]):
            got, wanted = (numpy.fromfile(f"{base}{file}.{index}", port["dtype"]).astype(float) for file in (f"{arm}-out{threads}", here + "-out"))
            errors.append(float(numpy.abs(got - wanted).max() / numpy.abs(wanted).max()))
    good = all(error <= TOLERANCE for error in errors) and vectors > 0
    print(f"{name:<20} {vectors:>8} {max(errors):>10.1e} {seconds:>9.1f}  {'ok' if good else 'WRONG'}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lathe-cli", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    arguments.folder = os.path.abspath(arguments.folder)
    qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if not qemu or not shutil.which(CROSS + "gcc"):
        sys.exit("the packages g++-aarch64-linux-gnu and qemu-user are needed")
    os.makedirs(arguments.folder, exist_ok=True)
    print(f"{'network':<20} {'NEON fma':>8} {'rel. error':>10} {'2 thr., s':>9}  result", flush=True)
    return 0 if all([check(name, qemu, arguments) for name in arguments.names or ["resnet-18"]]) else 1


if __name__ == "__main__":
    sys.exit(main())
