"""Called by tests/bench/onnxruntime: exports, tunes, checks and times (see there)."""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

MODELS = {"resnet-18": "resnet18", "mobilenet-v2": "mobilenet_v2", "squeezenet-1.1": "squeezenet1_1"}


def export(name, path):
    import torch
    import torchvision

    torch.manual_seed(0)
    model = getattr(torchvision.models, MODELS[name])(weights=None).eval()
    # Batch norms of a fresh network are identities: give them statistics as training would.
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.2, 0.2)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.uniform_(module.bias, -0.2, 0.2)
    torch.onnx.export(model, (torch.randn(1, 3, 224, 224),), path, input_names=["input"], output_names=["output"])


def bench_name(network):
    return "bench_" + network.replace("-", "_").replace(".", "_")


def description(library):
    """The JSON beside an exported library."""
    folder = os.path.dirname(library)
    for name in os.listdir(folder):
        if name.endswith(".json"):
            found = json.load(open(os.path.join(folder, name)))
            if found.get("library") == os.path.basename(library):
                return found
    sys.exit(f"{library} has no description beside it")


class Library:
    """An exported network through its C interface."""

    def __init__(self, path, threads):
        self.lib = ctypes.CDLL(path)
        self.name = description(path)["name"]

        class Options(ctypes.Structure):
            _fields_ = [("struct_size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("parallel_for", ctypes.c_void_p),
                        ("parallel_for_user", ctypes.c_void_p), ("pin_threads", ctypes.c_uint32),
                        ("idle_spin_us", ctypes.c_uint32), ("keep_weights_mapped", ctypes.c_uint32)]

        options = Options(ctypes.sizeof(Options), threads, None, None, 0, 0, 0)
        create = self.function("create")
        create.restype = ctypes.c_void_p
        error = ctypes.create_string_buffer(1000)
        self.instance = ctypes.c_void_p(create(ctypes.byref(options), error, 1000))
        if not self.instance:
            sys.exit(error.value.decode())
        self.run_ = self.function("run")

    def function(self, name):
        return getattr(self.lib, f"lathe_{self.name}_{name}")

    def bind(self, x, y):
        self.keep = (x, y)
        for what, array in (("bind_input", x), ("bind_output", y)):
            if self.function(what)(self.instance, 0, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)):
                sys.exit(f"{what} failed")

    def run(self):
        if self.run_(self.instance):
            sys.exit("run failed")


def aligned(shape):
    """64-byte aligned, so that it is bound without copying."""
    n = int(np.prod(shape))
    raw = np.zeros(n * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + n * 4].view(np.float32).reshape(shape)


PAUSE = 0.1  # seconds; ONNX Runtime spins for tens of milliseconds


def once(call, least=0.02):
    """Milliseconds per call over at least 20 ms.

    The pause lets the other engine's idle threads, which spin for a while after a run, go to sleep: else they would take
    turns with ours on the same cores. Two untimed calls wake our own."""
    time.sleep(PAUSE)
    call()
    call()
    count = 0
    start = time.perf_counter()
    while True:
        call()
        count += 1
        passed = time.perf_counter() - start
        if passed >= least:
            return passed / count * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--networks", default=",".join(MODELS))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--untuned", action="store_true", help="default schedules, without tuning")
    parser.add_argument("--keep", action="store_true", help="time the libraries of an earlier run again")
    arguments = parser.parse_args()
    import onnxruntime

    cli = os.path.join(arguments.bin, "lathe-cli")
    networks = arguments.networks.split(",")
    rows = []
    for name in networks:
        model = os.path.join(arguments.work, f"{name}.onnx")
        kind = "untuned" if arguments.untuned else "tuned"
        library = os.path.join(arguments.work, f"lib{name}-{kind}.so")
        project = os.path.join(arguments.work, f"{name}.lathe")
        if not os.path.exists(model):
            export(name, model)
        figures = {}
        if not (arguments.keep and os.path.exists(library)):
            if not arguments.untuned:
                for suffix in ("", "-wal", "-shm"):
                    if os.path.exists(project + suffix):
                        os.remove(project + suffix)
                out = subprocess.run([cli, "tune", model, "--project", project, "--time", f"{arguments.seconds}s", "--json"],
                                     stdout=subprocess.PIPE, text=True, check=True).stdout
                figures = json.loads(out.strip().splitlines()[-2 if '"state"' in out.strip().splitlines()[-1] else -1])
            extra = ["--allow-default"] if arguments.untuned else ["--project", project]
            subprocess.run([cli, "compile", model, "--name", bench_name(name) + "_" + kind, "-o", library,
                            "--allow-default", *extra], stdout=subprocess.DEVNULL, check=True)
        rng = np.random.default_rng(0)
        x = aligned((1, 3, 224, 224))
        x[:] = rng.standard_normal(x.shape, dtype=np.float32)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = arguments.threads
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        feed = {session.get_inputs()[0].name: x}
        expected = session.run(None, feed)[0]
        y = aligned(expected.shape)
        ours = Library(library, arguments.threads)
        ours.bind(x, y)
        ours.run()
        error = float(np.abs(y - expected).max() / np.abs(expected).max())
        for _ in range(5):
            ours.run()
            session.run(None, feed)
        theirs_ms, ours_ms = [], []
        for _ in range(arguments.rounds):
            theirs_ms.append(once(lambda: session.run(None, feed)))
            ours_ms.append(once(ours.run))
        a, b = statistics.median(ours_ms), statistics.median(theirs_ms)
        rows.append((name, a, b, a / b, error, figures.get("trials_per_s"), description(library)["benchmark"]["estimated_ms"]["tasks"], min(ours_ms), min(theirs_ms)))
        print(f"{name}: Lathe {a:.3f} ms, ONNX Runtime {b:.3f} ms, ratio {a / b:.3f}, max relative error {error:.1e}", flush=True)

    print(f"\n{'network':<16} {'Lathe ms':>9} {'ORT ms':>9} {'ratio':>7} {'min/min':>8} {'error':>9} {'trials/s':>9} {'sum of tasks ms':>16}")
    good = True
    for name, a, b, ratio, error, rate, estimate, least, theirs in rows:
        good = good and error <= 1e-4
        print(f"{name:<16} {a:>9.3f} {b:>9.3f} {ratio:>7.3f} {least / theirs:>8.3f} {error:>9.1e} {rate or float('nan'):>9.1f} {estimate or float('nan'):>16.3f}")
    print(f"{arguments.threads} threads, {arguments.rounds} interleaved rounds, medians; ONNX Runtime {onnxruntime.__version__}")
    sys.exit(0 if good else 1)


main()
