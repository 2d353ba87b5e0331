"""CLBlast as the other side: its own tuners' results for this device, and its products in every form that it can do."""

import ctypes
import ctypes.util
import glob
import itertools
import json
import os
import subprocess
import sys

import numpy as np

ROW_MAJOR, COLUMN_MAJOR, PLAIN, TRANSPOSED, SINGLE = 101, 102, 111, 112, 32
# The name under which the library looks up what each tuner found.
TUNERS = {"xgemm": "Xgemm", "xgemm_direct": "XgemmDirect", "copy_fast": "Copy", "copy_pad": "Pad", "transpose_fast": "Transpose", "transpose_pad": "Padtranspose"}


def tune(folder, sizes):
    """Runs CLBlast's tuners (package clblast-utils) on the first device, once for each m, n, k of `sizes`. Slow: minutes each."""
    for size in sizes:
        place = os.path.join(folder, "x".join(map(str, size)))
        os.makedirs(place, exist_ok=True)
        for tuner in TUNERS:
            done = os.path.join(place, tuner + ".done")
            if os.path.exists(done):
                continue
            words = dict(zip(("-m", "-n", "-k"), map(str, size))) if tuner.startswith("xgemm") else {}
            print(f"CLBlast's {tuner} at {size} ...", flush=True)
            with open(os.path.join(place, tuner + ".log"), "w") as log:
                subprocess.run([f"clblast_tuner_{tuner}", *itertools.chain(*words.items())], cwd=place, stdout=log, stderr=log, check=True)
            open(done, "w").close()


def tuned(folder):
    """A list of {kernel: {parameter: value}}, one of each size that was tuned for: the best of each of the tuner's parts."""
    sets = []
    for place in sorted(glob.glob(os.path.join(folder, "*x*x*"))):
        found = {}
        for file in sorted(glob.glob(os.path.join(place, "clblast_*.json"))):
            result = json.load(open(file))
            kernel = {"xgemm": "Xgemm", "xgemm_direct": "XgemmDirect"}.get(result["kernel_family"].rsplit("_", 1)[0])
            kernel = kernel or {"copy": "Copy", "pad": "Pad", "transpose": "Transpose", "padtranspose": "Padtranspose"}.get(result["kernel_family"])
            if kernel is None:
                continue
            words = dict(word.split("=") for word in result["best_parameters"].split())
            time = float(result["best_time"])
            if kernel not in found or time < found[kernel][0]:
                found[kernel] = (time, {name: int(value) for name, value in words.items() if name != "PRECISION"})
        if found:
            sets.append({kernel: parameters for kernel, (_, parameters) in found.items()})
    return sets


class Product:
    """C[m, n] = A[m, k] B[k, n] on the device: with each set of parameters, each order and transposition of the operands, the direct
    and the general kernel, the fastest of which is kept. Weights are constants and an unfolded input may be written as one likes, so each of
    them is fair."""

    def __init__(self, device, m, n, k, sets):
        self.device, self.m, self.n, self.k = device, m, n, k
        self.lib = ctypes.CDLL(ctypes.util.find_library("clblast") or "libclblast.so.1")
        random = np.random.default_rng(0)
        self.a, self.b = (random.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n)))
        self.buffers = [device.buffer(self.a), device.buffer(self.b), device.buffer(np.zeros((m, n)))]
        self.forms = [(s, order, ta, tb, direct) for s, order, ta, tb, direct in itertools.product(
            range(len(sets)), (ROW_MAJOR, COLUMN_MAJOR), (PLAIN, TRANSPOSED), (PLAIN, TRANSPOSED), (True, False))]
        self.sets = sets

    def use(self, form):
        """Parameters of a form; the library compiles its kernels anew at the next product."""
        index, *_, direct = form
        kernels = dict(self.sets[index], GemmRoutine={"XGEMM_MIN_INDIRECT_SIZE": 1 << 20 if direct else 0})
        for kernel, parameters in kernels.items():
            names = (ctypes.c_char_p * len(parameters))(*(name.encode() for name in parameters))
            values = (ctypes.c_size_t * len(parameters))(*parameters.values())
            status = self.lib.CLBlastOverrideParameters(self.device.id, kernel.encode(), SINGLE, ctypes.c_size_t(len(parameters)), names, values)
            if status:
                sys.exit(f"CLBlast does not take the parameters of {kernel}: status {status}")
        self.form = form

    def enqueue(self):
        _, order, ta, tb, _ = self.form
        m, n, k = self.m, self.n, self.k
        rows_a, rows_b = (m, k) if ta == PLAIN else (k, m), (k, n) if tb == PLAIN else (n, k)
        lead = lambda rows: rows[1] if order == ROW_MAJOR else rows[0]
        size, zero = ctypes.c_size_t, ctypes.c_size_t(0)
        queue = ctypes.c_void_p(self.device.queue.value)
        a, b, c = self.buffers
        return self.lib.CLBlastSgemm(order, ta, tb, size(m), size(n), size(k), ctypes.c_float(1), a, zero, size(lead(rows_a)), b, zero,
                                     size(lead(rows_b)), ctypes.c_float(0), c, zero, size(lead((m, n))), ctypes.byref(queue), None)

    def run(self):
        status = self.enqueue()
        if status:
            sys.exit(f"CLBlast's product of {self.m}, {self.n}, {self.k} failed with status {status}")
        self.device.finish()

    def right(self):
        """Whether the form's result is the product (of what its order and transpositions make of the buffers)."""
        _, order, ta, tb, _ = self.form
        m, n, k = self.m, self.n, self.k

        def matrix(values, rows, columns, transposed):
            flat = values.reshape(-1)
            shape = (columns, rows) if transposed == TRANSPOSED else (rows, columns)
            made = flat.reshape(shape) if order == ROW_MAJOR else flat.reshape(shape[::-1]).T
            return made.T if transposed == TRANSPOSED else made

        expected = matrix(self.a, m, k, ta).astype(np.float64) @ matrix(self.b, k, n, tb)
        got = matrix(self.device.read(self.buffers[2], (m * n,)), m, n, PLAIN)
        return np.abs(got - expected).max() <= 1e-3 * np.abs(expected).max()

    def choose(self, milliseconds):
        """Keeps the fastest form by `milliseconds(call)`; returns its description."""
        best = None
        for form in self.forms:
            self.use(form)
            if self.enqueue():
                continue  # a form that these parameters do not allow
            self.device.finish()
            time = milliseconds(self.run)
            if best is None or time < best[0]:
                best = (time, form)
        if best is None:
            sys.exit(f"no form of CLBlast's product of {self.m}, {self.n}, {self.k} runs")
        self.use(best[1])
        self.run()
        if not self.right():
            sys.exit("CLBlast's product is wrong")
        index, order, ta, tb, direct = best[1]
        return f"{'direct' if direct else 'general'} {'N' if ta == PLAIN else 'T'}{'N' if tb == PLAIN else 'T'} {'rows' if order == ROW_MAJOR else 'columns'}, set {index}"

    def release(self):
        self.device.release(*self.buffers)
