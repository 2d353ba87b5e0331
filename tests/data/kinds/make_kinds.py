#!/usr/bin/env python3
"""Writes the small models of this folder: one of each kind that people bring.

Run by hand when a kind is added (pip install numpy onnx onnxruntime); nothing here is needed to build or test Lathe. What a test
wants of each is in the tests that open it (tst_cli_sizes, tst_cli_kinds, tst_input_sizes). Where a folder of the
same name lies beside a model, it holds inputs and what ONNX Runtime computed from them, a .npy file each.
"""
import os
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))
random = np.random.default_rng(24)


def info(name, shape=None, dtype=T.FLOAT):
    return h.make_tensor_value_info(name, dtype, shape)


def weight(name, shape, scale=0.5):
    return numpy_helper.from_array(random.uniform(-scale, scale, shape).astype(np.float32), name)


def ints(name, values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def save(name, nodes, inputs, outputs, weights, opset=17):
    graph = h.make_graph(nodes, name, inputs, outputs, weights)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    if all(value.type.tensor_type.HasField("shape") for value in inputs):
        onnx.checker.check_model(model)
    onnx.save(model, os.path.join(FOLDER, name + ".onnx"))


def golden(name, **inputs):
    """Writes the inputs, and what ONNX Runtime computes from them without its optimizations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(os.path.join(FOLDER, name + ".onnx"), options, providers=["CPUExecutionProvider"])
    folder = os.path.join(FOLDER, name)
    os.makedirs(folder, exist_ok=True)
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
    for tensor, values in (inputs | outputs).items():
        np.save(os.path.join(folder, tensor + ".npy"), np.ascontiguousarray(values))


def head(channels, classes):
    """Pooled over the image, whatever its size."""
    nodes = [h.make_node("GlobalAveragePool", ["features"], ["pooled"], name="pool"),
             h.make_node("Flatten", ["pooled"], ["flat"], name="flatten"),
             h.make_node("Gemm", ["flat", "w2", "b2"], ["scores"], name="classify", transB=1)]
    return nodes, [weight("w2", [classes, channels]), weight("b2", [classes])]


def images(name, shape):
    nodes, weights = head(8, 10)
    save(name,
         [h.make_node("Conv", ["images", "w1", "b1"], ["c"], name="stem", strides=[2, 2], pads=[1, 1, 1, 1]),
          h.make_node("Relu", ["c"], ["features"], name="relu")] + nodes,
         [info("images", shape)], [info("scores", ["batch", 10])],
         [weight("w1", [8, 3, 3, 3]), weight("b1", [8])] + weights)


def main():
    images("images_by_name", ["batch", 3, "height", "width"])
    images("images_by_number", [None, 3, None, None])
    images("images_batch", ["N", 3, 32, 32])

    nodes, weights = head(8, 10)
    save("images_nhwc",
         [h.make_node("Transpose", ["images"], ["planes"], name="to_planes", perm=[0, 3, 1, 2]),
          h.make_node("Conv", ["planes", "w1"], ["c"], name="stem", pads=[1, 1, 1, 1]),
          h.make_node("Relu", ["c"], ["features"], name="relu")] + nodes,
         [info("images", ["unk__1", "unk__2", "unk__3", 3])], [info("scores", ["batch", 10])],
         [weight("w1", [8, 3, 3, 3])] + weights)

    # Two inputs that share their batch and their length.
    save("texts",
         [h.make_node("Gather", ["table", "input_ids"], ["rows"], name="embed"),
          h.make_node("Cast", ["attention_mask"], ["m"], name="mask", to=T.FLOAT),
          h.make_node("Unsqueeze", ["m", "last"], ["m3"], name="widen"),
          h.make_node("Mul", ["rows", "m3"], ["masked"], name="apply"),
          h.make_node("MatMul", ["masked", "w"], ["hidden"], name="project")],
         [info("input_ids", ["batch_size", "sequence_length"], T.INT64),
          info("attention_mask", ["batch_size", "sequence_length"], T.INT64)],
         [info("hidden", ["batch_size", "sequence_length", 16])],
         [weight("table", [50, 16]), weight("w", [16, 16]), ints("last", [2])])

    save("frames",
         [h.make_node("Conv", ["mel", "w"], ["c"], name="listen", pads=[1, 1]),
          h.make_node("Relu", ["c"], ["heard"], name="relu")],
         [info("mel", [1, 80, "time"])], [info("heard", [1, 16, "time"])], [weight("w", [16, 80, 3])])

    save("volume",
         [h.make_node("Conv", ["scan", "w"], ["c"], name="look", pads=[1] * 6),
          h.make_node("Relu", ["c"], ["seen"], name="relu")],
         [info("scan", ["N", 1, "D", "H", "W"])], [info("seen", ["N", 4, "D", "H", "W"])], [weight("w", [4, 1, 3, 3, 3])])

    save("no_shape", [h.make_node("Relu", ["x"], ["y"], name="relu")], [info("x")], [info("y", ["n", "c"])], [])

    save("unsupported",
         [h.make_node("Relu", ["x"], ["r"], name="relu"),
          h.make_node("ImageDecoder", ["bytes"], ["a"], name="decode_left"),
          h.make_node("ImageDecoder", ["bytes"], ["b"], name="decode_right"),
          h.make_node("RandomNormalLike", ["r"], ["y"], name="noise")],
         [info("x", [1, 4]), info("bytes", [16], T.UINT8)], [info("y", [1, 4]), info("a", ["h", "w", 3], T.UINT8), info("b", ["h", "w", 3], T.UINT8)],
         [], opset=20)

    control_flow()
    quantized()
    files()


def control_flow():
    # The mean of the input says which of two convolutions is computed.
    def branch(name):
        return h.make_graph([h.make_node("Conv", ["x", name + "_w"], [name + "_c"], name=name + "_conv", pads=[1] * 4),
                             h.make_node("Relu", [name + "_c"], [name + "_y"], name=name + "_relu")],
                            name, [], [info(name + "_y", [1, 8, 12, 12])])
    save("branch",
         [h.make_node("ReduceMean", ["x"], ["mean"], name="average", keepdims=0),
          h.make_node("Greater", ["mean", "zero"], ["bright"], name="is_bright"),
          h.make_node("If", ["bright"], ["features"], name="choose", then_branch=branch("bright"), else_branch=branch("dark")),
          h.make_node("GlobalAveragePool", ["features"], ["y"], name="pool")],
         [info("x", [1, 4, 12, 12])], [info("y", [1, 8, 1, 1])],
         [weight("bright_w", [8, 4, 3, 3]), weight("dark_w", [8, 4, 3, 3]),
          numpy_helper.from_array(np.float32(0), "zero")])
    golden("branch", x=random.uniform(-2, 1, [1, 4, 12, 12]).astype(np.float32))

    # A recurrent cell, five times; every state is an output.
    body = h.make_graph([h.make_node("MatMul", ["state", "w"], ["turned"], name="turn"),
                         h.make_node("Tanh", ["turned"], ["next"], name="squash"),
                         h.make_node("Identity", ["next"], ["seen"], name="keep"),
                         h.make_node("Identity", ["go"], ["still"], name="on")],
                        "cell", [info("i", [], T.INT64), info("go", [], T.BOOL), info("state", [4, 32])],
                        [info("still", [], T.BOOL), info("next", [4, 32]), info("seen", [4, 32])])
    save("loop",
         [h.make_node("MatMul", ["x", "w_in"], ["start"], name="enter"),
          h.make_node("Loop", ["trips", "", "start"], ["last", "states"], name="around", body=body),
          h.make_node("MatMul", ["last", "w_out"], ["y"], name="leave")],
         [info("x", [4, 16])], [info("y", [4, 8]), info("states", [5, 4, 32])],
         [weight("w_in", [16, 32]), weight("w", [32, 32]), weight("w_out", [32, 8]),
          numpy_helper.from_array(np.int64(5), "trips")])
    golden("loop", x=random.uniform(-1, 1, [4, 16]).astype(np.float32))


def quantized():
    def bytes_(name, values, dtype=np.int8):
        return numpy_helper.from_array(np.asarray(values, dtype), name)

    def scalar(name, value):
        return numpy_helper.from_array(np.float32(value), name)

    # As dynamic quantization leaves a convolution.
    save("conv_integer",
         [h.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"], name="quantize"),
          h.make_node("ConvInteger", ["q", "w", "zero"], ["sums"], name="conv", pads=[1] * 4),
          h.make_node("Cast", ["sums"], ["f"], name="to_float", to=T.FLOAT),
          h.make_node("Mul", ["scale", "w_scale"], ["both"], name="scales"),
          h.make_node("Mul", ["f", "both"], ["scaled"], name="dequantize"),
          h.make_node("Relu", ["scaled"], ["y"], name="relu")],
         [info("x", [1, 3, 16, 16])], [info("y", [1, 8, 16, 16])],
         [bytes_("w", random.integers(-127, 128, [8, 3, 3, 3])), scalar("w_scale", 0.004)])
    golden("conv_integer", x=random.uniform(-1, 1, [1, 3, 16, 16]).astype(np.float32))

    # Pairs of QuantizeLinear and DequantizeLinear around a convolution, weights in eight bits for each channel.
    save("qdq",
         [h.make_node("QuantizeLinear", ["x", "s", "zero"], ["xq"], name="quantize_x"),
          h.make_node("DequantizeLinear", ["xq", "s", "zero"], ["xd"], name="dequantize_x"),
          h.make_node("DequantizeLinear", ["w", "w_scale", "w_zero"], ["wd"], name="dequantize_w", axis=0),
          h.make_node("Conv", ["xd", "wd"], ["c"], name="conv", pads=[1] * 4),
          h.make_node("Relu", ["c"], ["r"], name="relu"),
          h.make_node("QuantizeLinear", ["r", "s_out", "zero"], ["rq"], name="quantize_y"),
          h.make_node("DequantizeLinear", ["rq", "s_out", "zero"], ["y"], name="dequantize_y")],
         [info("x", [1, 3, 16, 16])], [info("y", [1, 8, 16, 16])],
         [bytes_("w", random.integers(-127, 128, [8, 3, 3, 3])),
          numpy_helper.from_array(random.uniform(0.002, 0.006, [8]).astype(np.float32), "w_scale"),
          bytes_("w_zero", [0] * 8), scalar("s", 0.0078125), scalar("s_out", 0.03125), bytes_("zero", 0)])
    golden("qdq", x=(random.integers(-127, 128, [1, 3, 16, 16]) * 0.0078125).astype(np.float32)) # no ties

    half = np.float16
    save("half",
         [h.make_node("Conv", ["x", "w1", "b1"], ["c"], name="stem", pads=[1] * 4),
          h.make_node("Relu", ["c"], ["r"], name="relu"),
          h.make_node("GlobalAveragePool", ["r"], ["p"], name="pool"),
          h.make_node("Flatten", ["p"], ["flat"], name="flatten"),
          h.make_node("MatMul", ["flat", "w2"], ["y"], name="classify")],
         [info("x", [1, 3, 16, 16], T.FLOAT16)], [info("y", [1, 10], T.FLOAT16)],
         [numpy_helper.from_array(random.uniform(-.5, .5, [8, 3, 3, 3]).astype(half), "w1"),
          numpy_helper.from_array(random.uniform(-.5, .5, [8]).astype(half), "b1"),
          numpy_helper.from_array(random.uniform(-.5, .5, [8, 10]).astype(half), "w2")])
    golden("half", x=random.uniform(-1, 1, [1, 3, 16, 16]).astype(half))


def files():
    # Weights of 600 MB in a file beside the model, which a test makes (external.weights, zeros), or leaves away.
    table = onnx.TensorProto(name="w", data_type=T.FLOAT, dims=[12000, 12500], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in {"location": "external.weights", "offset": "0", "length": str(12000 * 12500 * 4)}.items():
        table.external_data.add(key=key, value=value)
    graph = h.make_graph([h.make_node("MatMul", ["x", "w"], ["y"], name="multiply")], "external",
                         [info("x", [1, 12000])], [info("y", [1, 12500])], [table])
    onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8), os.path.join(FOLDER, "external.onnx"))

    # As a download that broke off leaves it.
    with open(os.path.join(FOLDER, "images_by_name.onnx"), "rb") as whole, open(os.path.join(FOLDER, "broken.onnx"), "wb") as cut:
        cut.write(whole.read()[:1000])


if __name__ == "__main__":
    main()
