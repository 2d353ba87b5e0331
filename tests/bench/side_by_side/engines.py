"""One class per engine: made from a network, then run() as often as wanted on the same input; `output` holds the result."""

import ctypes
import json
import os
import sys

import numpy as np


def aligned(shape):
    """64-byte aligned, so that Lathe binds it without copying."""
    n = int(np.prod(shape))
    raw = np.zeros(n * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + n * 4].view(np.float32).reshape(shape)


class OnnxRuntime:
    title = "ONNX Runtime"

    def __init__(self, model, torch_model, x, threads):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.feed = {self.session.get_inputs()[0].name: x}
        self.version = onnxruntime.__version__

    def run(self):
        self.output = self.session.run(None, self.feed)[0]


class OpenVino:
    title = "OpenVINO"

    def __init__(self, model, torch_model, x, threads):
        import openvino

        # float32 as everybody else: its default hint may choose bfloat16.
        compiled = openvino.Core().compile_model(model, "CPU", {
            "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"})
        self.request = compiled.create_infer_request()
        self.request.set_input_tensor(openvino.Tensor(x, shared_memory=True))
        self.version = openvino.__version__.split("-")[0]

    def run(self):
        self.request.infer()
        self.output = self.request.get_output_tensor().data


class Inductor:
    title = "PyTorch inductor"

    def __init__(self, model, torch_model, x, threads):
        import torch
        import torch._inductor.config

        torch.set_num_threads(threads)
        torch._inductor.config.freezing = True
        self.torch = torch
        self.input = torch.from_numpy(x)
        self.model = torch.compile(torch_model())
        self.version = torch.__version__.split("+")[0]
        with torch.no_grad():
            self.model(self.input)

    def run(self):
        with self.torch.no_grad():
            self.output = self.model(self.input).numpy()


def description(library):
    """The JSON beside an exported library."""
    folder = os.path.dirname(library)
    for name in os.listdir(folder):
        if name.endswith(".json"):
            found = json.load(open(os.path.join(folder, name)))
            if found.get("library") == os.path.basename(library):
                return found
    sys.exit(f"{library} has no description beside it")


class Lathe:
    """An exported library through its C interface."""

    title = "Lathe"

    class Options(ctypes.Structure):
        _fields_ = [("struct_size", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("parallel_for", ctypes.c_void_p),
                    ("parallel_for_user", ctypes.c_void_p), ("pin_threads", ctypes.c_uint32),
                    ("idle_spin_us", ctypes.c_uint32), ("keep_weights_mapped", ctypes.c_uint32)]

    def __init__(self, library, x, output_shape, threads, described=None):
        self.description = described or description(library)
        self.version = "here"
        self.lib = ctypes.CDLL(library)
        options = self.Options(ctypes.sizeof(self.Options), threads, None, None, 0, 0, 0)
        create = self.function("create")
        create.restype = ctypes.c_void_p
        error = ctypes.create_string_buffer(1000)
        self.instance = ctypes.c_void_p(create(ctypes.byref(options), error, 1000))
        if not self.instance:
            sys.exit(error.value.decode())
        self.run_ = self.function("run")
        self.output = aligned(output_shape)
        self.input = x
        for what, array in (("bind_input", x), ("bind_output", self.output)):
            if self.function(what)(self.instance, 0, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)):
                sys.exit(f"{what} failed")

    def function(self, name):
        return getattr(self.lib, f"lathe_{self.description['name']}_{name}")

    def run(self):
        if self.run_(self.instance):
            sys.exit("run failed")


PEERS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "inductor": Inductor}
