#!/usr/bin/env python3
"""Writes the small models of this folder: one of each kind that people bring.

Run by hand when a kind is added (pip install numpy onnx); nothing here is needed to build or test Lathe. What a test
wants of each is in the tests that open it (tst_open_dimensions, tst_cli_sizes, tst_input_sizes_dialog).
"""
import os
import numpy as np
import onnx
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


if __name__ == "__main__":
    main()
