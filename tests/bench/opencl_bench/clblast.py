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
# The names under which the library looks up what the tuners of small kernels found are those of FAMILIES.
TUNERS = ("xgemm", "xgemm_direct", "xgemv", "copy_fast", "copy_pad", "transpose_fast", "transpose_pad")
FAMILIES = {"copy": "Copy", "pad": "Pad", "transpose": "Transpose", "padtranspose": "Padtranspose", "xgemv": "Xgemv", "xgemv_fast": "XgemvFast",
            "xgemv_fast_rot": "XgemvFastRot"}


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


def parameters_of(result):
    return {name: int(value) for name, value in result["parameters"].items() if name != "PRECISION"}


def tuned(folder):
    """A list of {kernel: {parameter: value}}: the best of the small kernels with the three best general ones of each part of their tuner.
    Some of what its tuner found right crashes within the library, or is wrong there: each is tried in a process of its own first."""
    sets = []
    for place in sorted(glob.glob(os.path.join(folder, "*x*x*"))):
        usable = os.path.join(place, "usable.json")
        if not os.path.exists(usable):
            common, general = {}, []
            for file in sorted(glob.glob(os.path.join(place, "clblast_*.json"))):
                result = json.load(open(file))
                ranked = sorted(result["results"], key=lambda each: each["time"])
                family = result["kernel_family"]
                if family.startswith("xgemm_direct"):
                    common.setdefault("XgemmDirect", parameters_of(ranked[0]))
                elif family.startswith("xgemm"):
                    general += [parameters_of(each) for each in ranked[:3]]
                elif family in FAMILIES:
                    common[FAMILIES[family]] = parameters_of(ranked[0])
            kept = []
            for parameters in general:
                made = dict(common, Xgemm=parameters)
                done = subprocess.run([sys.executable, __file__, json.dumps(made)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                print(f"CLBlast with {parameters}: {'right' if done.returncode == 0 else 'crashes or is wrong: left out'}", flush=True)
                kept += [made] if done.returncode == 0 else []
            json.dump(kept, open(usable, "w"))
        sets += json.load(open(usable))
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
            range(len(sets)), (ROW_MAJOR, COLUMN_MAJOR), (PLAIN, TRANSPOSED), (PLAIN, TRANSPOSED), (False, True))
            if not direct or s == 0]  # the direct kernel is the same in all sets
        if n == 1:  # a matrix and a vector
            self.forms = [(0, order, ta, None, False) for order in (ROW_MAJOR, COLUMN_MAJOR) for ta in (PLAIN, TRANSPOSED)]
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
        rows_a, rows_b = (m, k) if ta == PLAIN else (k, m), (k, n) if tb in (PLAIN, None) else (n, k)
        lead = lambda rows: rows[1] if order == ROW_MAJOR else rows[0]
        size, zero = ctypes.c_size_t, ctypes.c_size_t(0)
        queue = ctypes.c_void_p(self.device.queue.value)
        a, b, c = self.buffers
        if tb is None:
            return self.lib.CLBlastSgemv(order, ta, size(rows_a[0]), size(rows_a[1]), ctypes.c_float(1), a, zero, size(lead(rows_a)), b, zero, size(1),
                                         ctypes.c_float(0), c, zero, size(1), ctypes.byref(queue), None)
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

        expected = matrix(self.a, m, k, ta).astype(np.float64) @ matrix(self.b, k, n, tb or PLAIN)
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
        if tb is None:
            return f"vector {'N' if ta == PLAIN else 'T'} {'rows' if order == ROW_MAJOR else 'columns'}"
        return f"{'direct' if direct else 'general'} {'N' if ta == PLAIN else 'T'}{'N' if tb == PLAIN else 'T'} {'rows' if order == ROW_MAJOR else 'columns'}, set {index}"

    def release(self):
        self.device.release(*self.buffers)


if __name__ == "__main__":  # whether a set of parameters works in the library, for a product that no tile divides
    from device import Device

    product = Product(Device(), 200, 100, 300, [json.loads(sys.argv[1])])
    for form in product.forms:
        product.use(form)
        product.run()
        if not product.right():
            sys.exit(1)
