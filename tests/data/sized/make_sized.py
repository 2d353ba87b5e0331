#!/usr/bin/env python3
"""Writes models whose results are as large as the data says, and what ONNX Runtime computes on them.

Run by hand when a case is added (pip install numpy onnx onnxruntime); nothing here is needed to build or test Lathe.
NAME.onnx is the model; NAME.bin holds runs, one behind the other: the inputs, then each output as its number of dimensions
and its extents (int64) and its values. Everything is raw and little-endian, in the model's order.
"""
import os
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper, save

FOLDER = os.path.dirname(os.path.abspath(__file__))
F32, I64 = np.float32, np.int64


class Model:
    def __init__(self, name, opset=17):
        self.name, self.opset = name, opset
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.array(value), name))
        return name

    def ints(self, *values):
        return self.constant("ints_%d" % len(self.weights), np.array(values, I64))

    def floats(self, *values):
        return self.constant("floats_%d" % len(self.weights), np.array(values, F32))

    def whole(self, value):
        return self.constant("whole_%d" % len(self.weights), np.array(value, I64))

    def add(self, op, inputs, output, **attributes):
        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=op + "_" + outputs[0], **attributes))
        return output

    def output(self, name, dtype=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, dtype, None))

    def save(self, runs):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        path = os.path.join(FOLDER, self.name + ".onnx")
        save(model, path)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        with open(os.path.join(FOLDER, self.name + ".bin"), "wb") as out:
            for inputs in runs:
                feed = {info.name: value for info, value in zip(self.inputs, inputs)}
                results = session.run(None, feed)
                print(self.name, [r.shape for r in results])
                for value in inputs:
                    out.write(np.ascontiguousarray(value).tobytes())
                for value in results:
                    out.write(np.array([value.ndim, *value.shape], I64).tobytes())
                    out.write(np.ascontiguousarray(value).tobytes())


def boxesOf(random, *shape):
    low = random.uniform(0, 60, shape + (2,))
    return np.concatenate([low, low + random.uniform(4, 40, shape + (2,))], -1).astype(F32)


def detectorHead():
    """A head as YOLO's exporters write it: suppression, then what was selected is picked and joined."""
    m = Model("detector_head")
    m.input("raw", [2, 9, 120])  # centre, size and five classes
    m.add("Transpose", ["raw"], "rows", perm=[0, 2, 1])
    m.add("Slice", ["rows", m.ints(0), m.ints(4), m.ints(2)], "boxes")
    m.add("Slice", ["rows", m.ints(4), m.ints(9), m.ints(2)], "probabilities")
    m.constant("corners", np.array([[1, 0, 1, 0], [0, 1, 0, 1], [-0.5, 0, 0.5, 0], [0, -0.5, 0, 0.5]], F32))
    m.add("MatMul", ["boxes", "corners"], "xyxy")
    m.add("Transpose", ["probabilities"], "scores", perm=[0, 2, 1])
    m.add("NonMaxSuppression", ["xyxy", "scores", m.ints(20), m.floats(0.45), m.floats(0.6)], "selected")
    m.add("Gather", ["selected", m.ints(0, 2)], "places", axis=1)
    m.add("GatherND", ["xyxy", "places"], "found")
    m.add("GatherND", ["scores", "selected"], "score")
    m.add("Unsqueeze", ["score", m.ints(1)], "scoreColumn")
    m.add("Gather", ["selected", m.ints(1)], "class", axis=1)
    m.add("Cast", ["class"], "classColumn", to=TensorProto.FLOAT)
    m.add("Gather", ["selected", m.ints(0)], "batch", axis=1)
    m.add("Cast", ["batch"], "batchColumn", to=TensorProto.FLOAT)
    m.add("Concat", ["batchColumn", "found", "classColumn", "scoreColumn"], "detections", axis=1)
    m.output("detections")
    m.output("selected", TensorProto.INT64)
    random = np.random.default_rng(1)
    runs = []
    for high in (1.0, 0.7, 0.5):  # the last finds nothing
        raw = np.concatenate([random.uniform(10, 90, (2, 2, 120)), random.uniform(5, 40, (2, 2, 120)), random.uniform(0, high, (2, 5, 120))], 1)
        runs.append([raw.astype(F32)])
    m.save(runs)


def proposals():
    """As torchvision writes it: a score threshold, small boxes out, suppression, the best ones."""
    m = Model("proposals")
    m.input("boxes", [90, 4])
    m.input("scores", [90])
    m.add("Greater", ["scores", m.floats(0.3)], "likely")
    m.add("NonZero", ["likely"], "likelyRows")
    m.add("Transpose", ["likelyRows"], "likelyColumns", perm=[1, 0])
    m.add("Squeeze", ["likelyColumns", m.ints(1)], "keep")
    m.add("Gather", ["boxes", "keep"], "kept", axis=0)
    m.add("Gather", ["scores", "keep"], "keptScores", axis=0)
    m.add("Slice", ["kept", m.ints(2), m.ints(4), m.ints(1)], "ends")
    m.add("Slice", ["kept", m.ints(0), m.ints(2), m.ints(1)], "starts")
    m.add("Sub", ["ends", "starts"], "sizes")
    m.add("ReduceMin", ["sizes"], "smallest", axes=[1], keepdims=0)
    m.add("GreaterOrEqual", ["smallest", m.floats(10.0)], "large")
    m.add("NonZero", ["large"], "largeRows")
    m.add("Squeeze", ["largeRows", m.ints(0)], "largeKeep")
    m.add("Gather", ["kept", "largeKeep"], "b2", axis=0)
    m.add("Gather", ["keptScores", "largeKeep"], "s2", axis=0)
    m.add("ReduceMax", ["boxes"], "furthest", keepdims=0)
    m.add("Unsqueeze", ["b2", m.ints(0)], "b3")
    m.add("Unsqueeze", ["s2", m.ints(0, 1)], "s3")
    m.add("NonMaxSuppression", ["b3", "s3", m.ints(1 << 40), m.floats(0.5)], "selected")
    m.add("Gather", ["selected", m.ints(2)], "column", axis=1)
    m.add("Squeeze", ["column", m.ints(1)], "places")
    m.add("Slice", ["places", m.ints(0), m.ints(25), m.ints(0)], "first")
    m.add("Gather", ["b2", "first"], "outBoxes", axis=0)
    m.add("Gather", ["s2", "first"], "outScores", axis=0)
    # The best of what is left, at most 15.
    m.add("Shape", ["s2"], "count")
    m.add("Concat", ["count", m.ints(15)], "both", axis=0)
    m.add("ReduceMin", ["both"], "k", keepdims=1)
    m.add("Min", ["count", m.ints(15)], "k2")
    m.add("TopK", ["s2", "k"], ["best", "bestPlaces"])
    m.add("Slice", ["s2", m.ints(0), "k2", m.ints(0)], "front")
    m.add("Gather", ["b2", "bestPlaces"], "bestBoxes", axis=0)
    m.add("Add", ["bestBoxes", "furthest"], "moved")
    for name in ("outBoxes", "outScores", "best", "moved", "front"):
        m.output(name)
    m.output("bestPlaces", TensorProto.INT64)
    random = np.random.default_rng(2)
    m.save([[boxesOf(random, 90), random.uniform(0, high, 90).astype(F32)] for high in (1.0, 0.5, 0.32, 0.2)])


def shapesOfData():
    """Shapes that are made of a size that depends on data, in the forms that exporters write."""
    m = Model("shapes_of_data")
    m.input("x", [12, 6])
    m.input("mask", [12])
    m.add("Greater", ["mask", m.floats(0.0)], "wanted")
    m.add("Compress", ["x", "wanted"], "rows", axis=0)
    m.add("Reshape", ["rows", m.ints(-1)], "flat")
    m.add("Shape", ["rows"], "shape")
    m.add("Gather", ["shape", m.whole(0)], "n", axis=0)
    m.add("Unsqueeze", ["n", m.ints(0)], "n1")
    m.add("Concat", ["n1", m.ints(2, 3)], "apartShape", axis=0)
    m.add("Reshape", ["rows", "apartShape"], "apart")
    m.add("Transpose", ["apart"], "turned", perm=[1, 0, 2])
    m.add("Concat", ["n1", m.ints(-1)], "openShape", axis=0)
    m.add("Reshape", ["apart", "openShape"], "again")
    m.add("Expand", [m.floats(0.5), "n1"], "halves")
    m.add("ConstantOfShape", ["n1"], "ones", value=numpy_helper.from_array(np.array([1], F32)))
    m.add("Range", [m.whole(0), "n", m.whole(1)], "counting")
    m.add("Cast", ["counting"], "numbers", to=TensorProto.FLOAT)
    m.add("Add", ["halves", "ones"], "sum")
    m.add("Mul", ["sum", "numbers"], "scaled")
    m.add("Slice", ["rows", m.ints(1), m.ints(-1), m.ints(0)], "inside")
    m.add("Slice", ["rows", m.ints(-4), m.ints(1 << 60), m.ints(1)], "right")
    m.add("Concat", ["rows", "x", "inside"], "joined", axis=0)
    m.add("Concat", ["rows", "again"], "beside", axis=1)
    m.add("ReduceSum", ["rows", m.ints(0)], "total", keepdims=0)
    m.add("ReduceMean", ["rows"], "mean", axes=[0], keepdims=1)
    m.add("ReduceMax", ["rows"], "highest", axes=[0, 1], keepdims=0)
    m.add("Sub", ["rows", "mean"], "centred")
    m.add("Softmax", ["rows"], "soft", axis=1)
    m.constant("w", np.random.default_rng(4).uniform(-1, 1, (6, 5)).astype(F32))
    m.constant("b", np.random.default_rng(5).uniform(-1, 1, 5).astype(F32))
    m.add("Gemm", ["rows", "w", "b"], "product")
    m.add("Gather", ["rows", m.ints(-1, 0)], "ends", axis=0)
    m.add("Split", ["rows", m.ints(2, 4)], ["few", "more"], axis=1)
    for name in ("rows", "flat", "turned", "again", "scaled", "inside", "right", "joined", "beside", "total", "centred", "highest", "soft", "product", "ends", "few", "more"):
        m.output(name)
    m.output("shape", TensorProto.INT64)
    random = np.random.default_rng(3)
    m.save([[random.uniform(-1, 1, (12, 6)).astype(F32), (random.uniform(-1, 1, 12) + shift).astype(F32)] for shift in (0, 0.7, -0.6)])


def different():
    """Unique in its forms, and what is made of its results."""
    m = Model("different")
    m.input("x", [4, 9])
    m.add("Round", ["x"], "rounded")
    m.add("Unique", ["rounded"], ["values", "first", "inverse", "counts"])
    m.add("Unique", ["rounded"], ["unsorted", "unsortedFirst", "", "unsortedCounts"], sorted=0)
    m.add("Clip", ["rounded", m.constant("low", F32(0)), m.constant("high", F32(1))], "bits")
    m.add("Slice", ["bits", m.ints(0), m.ints(2), m.ints(0)], "few")
    m.add("Unique", ["few"], ["columns", "columnFirst", "columnInverse", "columnCounts"], axis=1)
    m.add("Gather", ["values", "inverse"], "back", axis=0)
    m.add("NonZero", ["bits"], "places")
    for name in ("values", "unsorted", "columns", "back"):
        m.output(name)
    for name in ("first", "inverse", "counts", "unsortedFirst", "unsortedCounts", "columnFirst", "columnInverse", "columnCounts", "places"):
        m.output(name, TensorProto.INT64)
    random = np.random.default_rng(6)
    m.save([[random.uniform(-high, high, (4, 9)).astype(F32)] for high in (3, 1, 0.4)])


def countedLoop():
    """A loop that runs as often as there are rows, and stacks what it makes of each."""
    m = Model("counted_loop")
    m.input("x", [9, 4])
    m.input("mask", [9])
    m.add("Greater", ["mask", m.floats(0.0)], "wanted")
    m.add("Compress", ["x", "wanted"], "rows", axis=0)
    m.add("Shape", ["rows"], "shape")
    m.add("Gather", ["shape", m.whole(0)], "n", axis=0)
    m.constant("go", np.array(True))
    m.constant("start", np.zeros(4, F32))
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["stillGoing"]), helper.make_node("Gather", ["rows", "i"], ["row"], axis=0),
         helper.make_node("Add", ["sum", "row"], ["next"]), helper.make_node("Mul", ["next", "row"], ["product"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("going", TensorProto.BOOL, []),
         helper.make_tensor_value_info("sum", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("stillGoing", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, [4]),
         helper.make_tensor_value_info("product", TensorProto.FLOAT, [4])])
    m.add("Loop", ["n", "go", "start"], ["total", "products"], body=body)
    m.add("Mul", ["products", "rows"], "scaled")
    for name in ("total", "products", "scaled"):
        m.output(name)
    random = np.random.default_rng(7)
    m.save([[random.uniform(-1, 1, (9, 4)).astype(F32), (random.uniform(-1, 1, 9) + shift).astype(F32)] for shift in (0, 2, -0.5)])


for make in (countedLoop, detectorHead, proposals, shapesOfData, different):
    make()
