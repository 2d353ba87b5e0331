"""The dense-like and 3x3 layers of resnet-18 and mobilenet, each tuned alone, beside CLBlast's product of the same size."""

import ctypes
import math
import os
import statistics
import sys
import time

import numpy as np

import clblast
from programs import Programs

# kernel, stride, channels in and out, height and width of the output; kernel 0: a dense layer.
LAYERS = {
    "resnet-18": [(3, 1, 64, 64, 56), (3, 2, 64, 128, 28), (3, 1, 128, 128, 28), (3, 2, 128, 256, 14), (3, 1, 256, 256, 14), (3, 2, 256, 512, 7),
                  (3, 1, 512, 512, 7), (1, 2, 64, 128, 28), (1, 2, 128, 256, 14), (1, 2, 256, 512, 7), (0, 1, 512, 1000, 1)],
    "mobilenet": [(3, 2, 3, 32, 112), (1, 1, 32, 64, 112), (1, 1, 64, 128, 56), (1, 1, 128, 128, 56), (1, 1, 128, 256, 28), (1, 1, 256, 256, 28),
                  (1, 1, 256, 512, 14), (1, 1, 512, 512, 14), (1, 1, 512, 1024, 7), (1, 1, 1024, 1024, 7), (0, 1, 1024, 1000, 1)],
}


def name_of(layer):
    kernel, stride, fan_in, fan_out, size = layer
    return f"dense_{fan_in}_{fan_out}" if kernel == 0 else f"conv_{kernel}x{kernel}_{stride}_{fan_in}_{fan_out}_{size}"


def chosen(words):
    layers = [layer for network in LAYERS.values() for layer in network]
    return [layer for layer in layers if not words or any(word in name_of(layer) for word in words)]


def product(layer):
    """m, n, k of the product that the layer is, a convolution's input unfolded."""
    kernel, _, fan_in, fan_out, size = layer
    return fan_out, size * size, fan_in * max(kernel, 1) ** 2


def tuning_sizes():
    """Sizes that CLBlast is tuned for: those that layers have mostly."""
    return [(512, 512, 512)]


def model(layer, path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    kernel, stride, fan_in, fan_out, size = layer
    random = np.random.default_rng(0)
    weight = [fan_in, fan_out] if kernel == 0 else [fan_out, fan_in, kernel, kernel]
    data, result = ([1, fan_in], [1, fan_out]) if kernel == 0 else ([1, fan_in, size * stride, size * stride], [1, fan_out, size, size])
    values = (random.standard_normal(weight, dtype=np.float32) * 0.05).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"]) if kernel == 0 else helper.make_node(
        "Conv", ["x", "w"], ["y"], pads=[kernel // 2] * 4, strides=[stride, stride])
    graph = helper.make_graph([node], "layer", [helper.make_tensor_value_info("x", TensorProto.FLOAT, data)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, result)], [numpy_helper.from_array(values, "w")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    made.ir_version = 9
    onnx.save(made, path)
    return data, result


class Library:
    """An exported library that runs in the given context and queue, on buffers of the device."""

    class Options(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("parallel_for", ctypes.c_void_p),
                    ("parallel_for_user", ctypes.c_void_p), ("pin_threads", ctypes.c_uint32), ("idle_spin_us", ctypes.c_uint32),
                    ("keep_weights_mapped", ctypes.c_uint32), ("variant", ctypes.c_char_p), ("device", ctypes.c_char_p),
                    ("device_context", ctypes.c_void_p), ("device_queue", ctypes.c_void_p)]

    def __init__(self, device, path, name, values, result):
        self.device, self.name, self.lib, self.shape = device, name, ctypes.CDLL(path), result
        options = self.Options(struct_size=ctypes.sizeof(self.Options), threads=1, device_context=device.context.value, device_queue=device.queue.value)
        create = self.function("create")
        create.restype = ctypes.c_void_p
        error = ctypes.create_string_buffer(1000)
        self.instance = ctypes.c_void_p(create(ctypes.byref(options), error, 1000))
        if not self.instance:
            sys.exit(error.value.decode())
        self.buffers = [device.buffer(values), device.buffer(np.zeros(result))]
        for what, buffer, bytes in (("input", self.buffers[0], values.nbytes), ("output", self.buffers[1], 4 * math.prod(result))):
            if self.function(f"bind_device_{what}")(self.instance, 0, buffer, ctypes.c_size_t(bytes)):
                self.fail()
        self.run_ = self.function("run")

    def function(self, name):
        return getattr(self.lib, f"lathe_{self.name}_{name}")

    def fail(self):
        text = self.function("last_error")
        text.restype = ctypes.c_char_p
        sys.exit(text(self.instance).decode())

    def run(self):
        if self.run_(self.instance):
            self.fail()

    def output(self):
        return self.device.read(self.buffers[1], self.shape)

    def release(self):
        self.function("destroy")(self.instance)
        self.device.release(*self.buffers)


def milliseconds(call, least=0.02):
    """Per call, over at least 20 ms; the first call is not timed."""
    call()
    count, start = 0, time.perf_counter()
    while True:
        call()
        count += 1
        passed = time.perf_counter() - start
        if passed >= least:
            return passed / count * 1e3


class Layers(Programs):
    def __init__(self, arguments):
        super().__init__(arguments, "opencl-layers")

    def path(self, layer, ending):
        return os.path.join(self.folder, name_of(layer) + ending)

    def tune_layer(self, layer):
        model(layer, self.path(layer, ".onnx"))
        events = self.tune(self.path(layer, ".onnx"), self.path(layer, ".lathe"), "--target", self.arguments.target)
        done = [event for event in events if event["event"] == "done"][-1]
        print(f"{name_of(layer)}: {done['trials']} trials, {done.get('trials_per_s') or 0:.1f} a second", flush=True)

    def export(self, layer, kind):
        library = self.path(layer, f"-{kind}.so")
        extra = ["--project", self.path(layer, ".lathe")] if kind == "tuned" else []
        self.lathe("compile", self.path(layer, ".onnx"), "--name", f"{name_of(layer)}_{kind}", "-o", library, "--allow-default", "--no-bench", "--no-verify",
                   "--overwrite", "--target", self.arguments.target, *extra)
        return library

    def time(self, device, layer, sets):
        """Lathe tuned, Lathe untuned and CLBlast in turns; a row of the table."""
        m, n, k = product(layer)
        data, result = model(layer, self.path(layer, ".onnx"))
        values = np.random.default_rng(1).standard_normal(data, dtype=np.float32)
        theirs = clblast.Product(device, m, n, k, sets)
        form = theirs.choose(milliseconds)
        ours = {kind: Library(device, self.export(layer, kind), f"{name_of(layer)}_{kind}", values, result) for kind in ("tuned", "untuned")}
        for library in ours.values():
            library.run()
        expected = self.expected(layer, values)
        errors = {kind: float(np.abs(library.output() - expected).max() / np.abs(expected).max()) for kind, library in ours.items()}
        if max(errors.values()) > 1e-3:
            sys.exit(f"{name_of(layer)} is wrong: {errors}")
        sides = {"CLBlast": theirs, **ours}
        times = {side: [] for side in sides}
        for _ in range(self.arguments.rounds):
            for side, engine in sides.items():
                times[side].append(milliseconds(engine.run))
        for engine in sides.values():
            engine.release()
        median = {side: statistics.median(values) for side, values in times.items()}
        row = {"layer": name_of(layer), "form": form, **median, "operations": 2 * m * n * k,
               "ratio": statistics.median(a / b for a, b in zip(times["tuned"], times["CLBlast"])),
               "untuned_ratio": statistics.median(a / b for a, b in zip(times["untuned"], times["CLBlast"]))}
        print(f"{row['layer']}: CLBlast {median['CLBlast']:.3f} ({form}), Lathe {median['tuned']:.3f}, untuned {median['untuned']:.3f} ms; "
              f"ratio {row['ratio']:.2f}, untuned {row['untuned_ratio']:.2f}", flush=True)
        return row

    def expected(self, layer, values):
        import onnxruntime

        session = onnxruntime.InferenceSession(self.path(layer, ".onnx"), providers=["CPUExecutionProvider"])
        return session.run(None, {"x": values})[0]


def table(rows, device, rounds):
    print("\n| layer | CLBlast ms | its form | Lathe ms | GFLOP/s | ratio | untuned ms | ratio |\n|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['layer']} | {row['CLBlast']:.3f} | {row['form']} | {row['tuned']:.3f} | {row['operations'] / row['tuned'] * 1e-6:.0f} | {row['ratio']:.2f} "
              f"| {row['untuned']:.3f} | {row['untuned_ratio']:.2f} |")
    mean = lambda key: math.exp(statistics.mean(math.log(row[key]) for row in rows))
    print(f"\n{device.name} by {device.platform}; medians of {rounds} interleaved rounds. Geometric means of the ratios: tuned {mean('ratio'):.2f}, "
          f"untuned {mean('untuned_ratio'):.2f}; {sum(row['ratio'] <= 1.1 for row in rows)} of {len(rows)} at most 1.1.")
