#!/usr/bin/env python3
"""Writes the tiny models of this folder and what ONNX Runtime computes on them.

Run by hand when a case is added (pip install numpy onnx onnxruntime); nothing here is needed to build or test Lathe.
NAME.onnx is the model; NAME.bin holds its inputs, then its outputs, in the model's order: raw little-endian values.
"""
import os
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))
F32 = np.float32
ELEMENT = {np.dtype(F32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.float16): TensorProto.FLOAT16,
           np.dtype(bool): TensorProto.BOOL, np.dtype(np.int32): TensorProto.INT32, np.dtype(np.uint8): TensorProto.UINT8,
           np.dtype(np.uint32): TensorProto.UINT32, np.dtype(np.uint64): TensorProto.UINT64}


class Case:
    """One model: inputs and weights are numpy arrays by name; every value named o... is an output."""

    def __init__(self, name, opset):
        self.name, self.opset = name, opset
        self.random = np.random.default_rng(sum(name.encode()))
        self.nodes, self.weights, self.inputs, self.symbols, self.outputs = [], [], {}, {}, []
        self.listWeights = False

    def input(self, name, shape, dtype=F32, low=-1.0, high=1.0, symbols=None):
        self.inputs[name] = (self.random.uniform(low, high, shape)).astype(dtype)
        self.symbols[name] = symbols or list(shape)
        return name

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(np.array(value), name))
        return name

    def noise(self, name, shape, low=-0.5, high=0.5, dtype=F32):
        return self.weight(name, self.random.uniform(low, high, shape).astype(dtype))

    def ints(self, name, values):
        return self.weight(name, np.array(values, np.int64))

    def add(self, op, inputs, output, **attributes):
        outputs = output if isinstance(output, list) else [output]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=f"{op}_{outputs[0]}", **attributes))
        self.outputs += [o for o in outputs if o.startswith("o")]
        return output

    def save(self, external=False):
        infos = [helper.make_tensor_value_info(n, ELEMENT[v.dtype], self.symbols[n]) for n, v in self.inputs.items()]
        if self.listWeights:
            infos += [helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in self.weights]
        graph = helper.make_graph(self.nodes, self.name, infos, [helper.make_empty_tensor_value_info(o) for o in self.outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=3 if self.opset < 9 else 8)
        shaped = onnx.shape_inference.infer_shapes(model)
        types = {v.name: v for v in list(shaped.graph.value_info) + list(shaped.graph.output)}
        del model.graph.output[:]
        model.graph.output.extend(types[o] for o in self.outputs)
        path = os.path.join(FOLDER, self.name + ".onnx")
        if external:
            onnx.save(model, path, save_as_external_data=True, location=self.name + ".weights", size_threshold=0)
        else:
            onnx.save(model, path)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        results = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(self.outputs, self.inputs)
        with open(os.path.join(FOLDER, self.name + ".bin"), "wb") as out:
            for array in list(self.inputs.values()) + results:
                out.write(np.ascontiguousarray(array).tobytes())


def smallNetwork(opset):
    c = Case(f"network_opset{opset}", opset)
    c.listWeights = opset < 9
    c.input("x", [1, 3, 12, 12])
    c.noise("w1", [6, 3, 3, 3]), c.noise("b1", [6])
    c.add("Conv", ["x", "w1", "b1"], "t1", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for n, low, high in (("gamma", 0.5, 1.5), ("beta", -0.5, 0.5), ("mean", -0.3, 0.3), ("var", 0.5, 2.0)):
        c.noise(n, [6], low, high)
    c.add("BatchNormalization", ["t1", "gamma", "beta", "mean", "var"], "t2", epsilon=2e-5)
    c.add("Relu", ["t2"], "t3")
    c.add("MaxPool", ["t3"], "t4", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c.noise("w2", [6, 1, 3, 3])
    c.add("Conv", ["t4", "w2"], "t5", kernel_shape=[3, 3], group=6, pads=[1, 1, 1, 1])
    c.add("Add", ["t5", "t4"], "t6")
    if opset < 11:
        c.add("Clip", ["t6"], "t7", min=0.0, max=6.0)
    else:
        c.weight("low", F32(0)), c.weight("high", F32(6))
        c.add("Clip", ["t6", "low", "high"], "t7")
    if opset < 12:
        c.add("Dropout", ["t7"], "t8", ratio=0.3)
    else:
        c.add("Dropout", ["t7"], "t8")
    c.add("GlobalAveragePool", ["t8"], "t9")
    c.add("Flatten", ["t9"], "t10")
    c.noise("w3", [6, 5]), c.noise("b3", [5])
    c.add("Gemm", ["t10", "w3", "b3"], "t11", alpha=0.5, beta=2.0)
    c.add("Softmax", ["t11"], "o1")
    c.save()


def convolutions():
    c = Case("convolutions", 11)
    c.input("x", [2, 4, 9, 8])
    c.noise("w1", [6, 2, 3, 2]), c.noise("b1", [6])
    c.add("Conv", ["x", "w1", "b1"], "o1", group=2, strides=[2, 1], pads=[0, 1, 2, 1], dilations=[1, 2])
    c.noise("w2", [3, 4, 3, 3])
    c.add("Conv", ["x", "w2"], "o2", auto_pad="SAME_UPPER", strides=[2, 3])
    c.add("Conv", ["x", "w2"], "o3", auto_pad="SAME_LOWER", strides=[2, 2])
    c.add("Conv", ["x", "w2"], "o4", auto_pad="VALID", dilations=[2, 2])
    c.noise("w3", [8, 1, 2, 2])
    c.add("Conv", ["x", "w3"], "o5", group=4, strides=[3, 3])
    c.noise("w4", [4, 3, 3, 2]), c.noise("b4", [3])
    c.add("ConvTranspose", ["x", "w4", "b4"], "o6", strides=[2, 3], pads=[1, 0, 1, 1], output_padding=[1, 0])
    c.noise("w5", [4, 2, 3, 3])
    c.add("ConvTranspose", ["x", "w5"], "o7", group=2, dilations=[2, 1])
    c.add("ConvTranspose", ["x", "w5"], "o8", strides=[2, 2], output_shape=[19, 16])
    c.save()


def pools():
    c = Case("pools", 19)
    c.input("x", [1, 2, 10, 11])
    c.add("MaxPool", ["x"], "o1", kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1], ceil_mode=1)
    c.add("MaxPool", ["x"], "o2", kernel_shape=[2, 3], dilations=[2, 2], strides=[2, 2])
    c.add("AveragePool", ["x"], "o3", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c.add("AveragePool", ["x"], "o4", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    c.add("AveragePool", ["x"], "o5", kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[3, 3])
    c.add("AveragePool", ["x"], "o6", kernel_shape=[3, 4], strides=[2, 3], ceil_mode=1)
    c.add("GlobalAveragePool", ["x"], "o7")
    c.add("GlobalMaxPool", ["x"], "o8")
    c.save()


def volumes():
    c = Case("volumes", 17)
    c.input("x", [1, 4, 5, 6, 7])
    c.noise("w1", [6, 2, 2, 3, 2]), c.noise("b1", [6])
    c.add("Conv", ["x", "w1", "b1"], "t1", group=2, strides=[2, 1, 2], pads=[0, 1, 1, 1, 0, 1], dilations=[1, 2, 1])
    for n, low, high in (("gamma", 0.5, 1.5), ("beta", -0.5, 0.5), ("mean", -0.3, 0.3), ("var", 0.5, 2.0)):
        c.noise(n, [6], low, high)
    c.add("BatchNormalization", ["t1", "gamma", "beta", "mean", "var"], "o1")
    c.noise("w2", [3, 4, 3, 3, 3])
    c.add("Conv", ["x", "w2"], "o2", auto_pad="SAME_UPPER", strides=[2, 3, 2])
    c.noise("w3", [4, 3, 2, 3, 3]), c.noise("b3", [3])
    c.add("ConvTranspose", ["x", "w3", "b3"], "o3", strides=[2, 1, 2], pads=[1, 0, 0, 0, 1, 1], output_padding=[1, 0, 0])
    c.add("MaxPool", ["x"], "o4", kernel_shape=[2, 3, 2], strides=[2, 2, 2], pads=[0, 1, 0, 1, 1, 1], ceil_mode=1)
    c.add("AveragePool", ["x"], "o5", kernel_shape=[3, 2, 3], strides=[2, 2, 2], pads=[1, 0, 1, 1, 0, 1])
    c.add("AveragePool", ["x"], "o6", kernel_shape=[3, 2, 3], pads=[1, 0, 1, 1, 0, 1], count_include_pad=1)
    c.add("GlobalAveragePool", ["x"], "o7"), c.add("GlobalMaxPool", ["x"], "o8")
    c.ints("widths", [0, 0, 0, 1, 0, 0, 0, 1, 0, 2])
    c.add("Pad", ["x", "widths"], "t2")
    c.add("Conv", ["t2", "w2"], "o9")
    c.save()


def activations():
    c = Case("activations", 22)
    c.input("x", [2, 3, 5], low=-4, high=4)
    c.input("p", [2, 3, 5], low=0.1, high=3)
    plain = ["Relu", "Neg", "Abs", "Sign", "Exp", "Tanh", "Erf", "Sigmoid", "Sin", "Cos", "Floor", "Ceil", "Round", "Softplus", "HardSwish",
             "Mish", "Gelu", "Softsign", "LeakyRelu", "Elu", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu", "Identity"]
    for i, op in enumerate(plain):
        c.add(op, ["x"], f"o{i}")
    for i, op in enumerate(["Log", "Sqrt", "Reciprocal"]):
        c.add(op, ["p"], f"op{i}")
    c.add("LeakyRelu", ["x"], "oa", alpha=0.3)
    c.add("Elu", ["x"], "ob", alpha=0.7)
    c.add("Celu", ["x"], "oc", alpha=0.6)
    c.add("HardSigmoid", ["x"], "od", alpha=1.0 / 6, beta=0.4)
    c.add("Gelu", ["x"], "oe", approximate="tanh")
    c.noise("slope", [3, 1])
    c.add("PRelu", ["x", "slope"], "of")
    c.weight("low", F32(-1.5))
    c.add("Clip", ["x", "low"], "og")
    c.save()


def arithmetic():
    c = Case("arithmetic", 18)
    c.input("x", [2, 3, 4]), c.input("y", [3, 1], low=0.5, high=2.0), c.input("z", [4])
    c.input("i", [2, 5], np.int64, -20, 20), c.input("j", [5], np.int64, 2, 9)
    for n, op in enumerate(["Add", "Sub", "Mul", "Div"]):
        c.add(op, ["x", "y"], f"o{n}")
        c.add(op, ["i", "j"], f"oi{n}")
    for n, op in enumerate(["Max", "Min", "Sum", "Mean"]):
        c.add(op, ["x", "y", "z"], f"ov{n}")
    c.add("Pow", ["y", "z"], "opow")
    c.ints("two", 2)
    c.add("Pow", ["x", "two"], "opow2")
    c.add("Mod", ["i", "j"], "omod")
    c.add("Mod", ["x", "y"], "ofmod", fmod=1)
    for n, op in enumerate(["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"]):
        c.add(op, ["i", "j"], f"b{n}")
    c.add("And", ["b1", "b0"], "b5"), c.add("Or", ["b3", "b5"], "b6"), c.add("Xor", ["b6", "b2"], "b7"), c.add("Not", ["b7"], "ob")
    c.add("Where", ["b4", "i", "j"], "ow")
    c.add("Cast", ["x"], "oc1", to=TensorProto.INT32), c.add("Cast", ["i"], "oc2", to=TensorProto.FLOAT)
    c.add("Cast", ["i"], "oc3", to=TensorProto.BOOL)
    c.save()


def reductions():
    for opset in (11, 18):
        c = Case(f"reductions_opset{opset}", opset)
        c.input("x", [2, 3, 4, 5], low=0.2, high=1.5)
        c.ints("axes", [1, -1])
        for n, op in enumerate(["Mean", "Max", "Min", "Prod", "SumSquare", "L1", "L2", "LogSum"]):
            if opset < 18:
                c.add("Reduce" + op, ["x"], f"o{n}", axes=[1, -1], keepdims=n % 2)
            else:
                c.add("Reduce" + op, ["x", "axes"], f"o{n}", keepdims=n % 2)
        c.add("ReduceMean", ["x"], "oall", keepdims=0)
        if opset < 13:
            c.add("ReduceSum", ["x"], "osum", axes=[2])
        else:
            c.add("ReduceSum", ["x", "axes"], "osum", keepdims=0)
            c.add("ReduceSum", ["x"], "onoop", noop_with_empty_axes=1)
        c.add("ArgMax", ["x"], "oam", axis=2, keepdims=0), c.add("ArgMin", ["x"], "oan", axis=-1)
        c.add("Softmax", ["x"], "os1"), c.add("Softmax", ["x"], "os2", axis=2), c.add("LogSoftmax", ["x"], "os3", axis=1)
        c.save()


def norms():
    c = Case("norms", 21)
    c.input("x", [2, 4, 3, 5])
    c.noise("g", [3, 5]), c.noise("b", [3, 5]), c.noise("g4", [4]), c.noise("b4", [4]), c.noise("g5", [5])
    c.add("LayerNormalization", ["x", "g", "b"], "o1", axis=2)
    c.add("LayerNormalization", ["x", "g5"], "o2", epsilon=1e-3)
    c.add("InstanceNormalization", ["x", "g4", "b4"], "o3")
    c.add("GroupNormalization", ["x", "g4", "b4"], "o4", num_groups=2)
    c.save()


def products():
    c = Case("products", 13)
    c.input("x", [3, 4]), c.input("y", [4, 5]), c.input("a", [2, 3, 4]), c.input("b", [2, 4, 2]), c.input("v", [4]), c.input("t", [4, 3])
    c.noise("w", [4, 6]), c.noise("wide", [3, 1])
    c.add("MatMul", ["x", "y"], "o1"), c.add("MatMul", ["a", "w"], "o2"), c.add("MatMul", ["a", "b"], "o3")
    c.add("MatMul", ["x", "b"], "o4"), c.add("MatMul", ["a", "v"], "o5"), c.add("MatMul", ["v", "y"], "o6")
    c.add("Gemm", ["t", "y", "wide"], "o7", transA=1)
    c.noise("w2", [6, 4]), c.noise("row", [1, 6])
    c.add("Gemm", ["x", "w2", "row"], "o8", transB=1, alpha=2.0)
    c.save()


def shapes():
    for opset in (11, 18):
        c = Case(f"shapes_opset{opset}", opset)
        c.input("x", [2, 3, 4, 6], symbols=["batch", 3, 4, 6])
        # The way exporters write view(x.size(0), -1) and view(batch, 6, 12).
        c.add("Shape", ["x"], "s")
        c.ints("zero", 0), c.ints("minus", [-1]), c.ints("first", [0])
        c.add("Gather", ["s", "zero"], "n", axis=0)
        if opset < 13:
            c.add("Unsqueeze", ["n"], "n1", axes=[0])
        else:
            c.add("Unsqueeze", ["n", "first"], "n1")
        c.add("Concat", ["n1", "minus"], "target", axis=0)
        c.add("Reshape", ["x", "target"], "o1")
        c.ints("keep", [0, 0, -1])
        c.add("Reshape", ["x", "keep"], "o2")
        c.add("Transpose", ["x"], "o3", perm=[0, 2, 3, 1]), c.add("Transpose", ["x"], "o4")
        c.add("Flatten", ["x"], "o5", axis=2), c.add("Flatten", ["x"], "o6", axis=0)
        c.ints("begin", [-1, 1]), c.ints("end", [-(1 << 60), 1 << 40]), c.ints("axes", [3, 2]), c.ints("steps", [-2, 2])
        c.add("Slice", ["x", "begin", "end", "axes", "steps"], "o7")
        if opset < 13:
            c.add("Split", ["x"], ["o8", "o9"], axis=3, split=[2, 4])
            c.add("Squeeze", ["n1"], "o10", axes=[0])
        else:
            c.ints("sizes", [2, 4])
            c.add("Split", ["x", "sizes"], ["o8", "o9"], axis=3)
            c.add("Squeeze", ["n1", "first"], "o10")
            c.add("Split", ["x"], ["o8a", "o8b"], axis=1, num_outputs=2)
        c.ints("pads", [0, 1, 0, 2, 1, 0, 0, 1]), c.weight("fill", F32(0.25))
        c.add("Pad", ["x", "pads", "fill"], "o11"), c.add("Pad", ["x", "pads"], "o12", mode="reflect"), c.add("Pad", ["x", "pads"], "o13", mode="edge")
        c.ints("wide", [5, 1, 1, 4, 1]), c.add("Expand", ["x", "wide"], "o14")
        c.ints("repeats", [1, 2, 1, 3]), c.add("Tile", ["x", "repeats"], "o15")
        c.add("SpaceToDepth", ["x"], "d", blocksize=2), c.add("DepthToSpace", ["d"], "o16", blocksize=2)
        c.add("DepthToSpace", ["d"], "o17", blocksize=2, mode="CRD")
        c.ints("pick", [[2, 0], [-1, 1]]), c.add("Gather", ["x", "pick"], "o18", axis=2)
        c.add("ConstantOfShape", ["target2"], "filled", value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.5]))
        c.ints("target2", [3, 1, 1]), c.add("Concat", ["x", "x"], "xx", axis=1)
        c.add("Mul", ["x", "filled"], "o19"), c.add("Mul", ["xx", "xx"], "o20")
        c.save()


def types():
    c = Case("half", 13)
    c.input("x", [2, 8], np.float16)
    c.noise("w", [8, 3], dtype=np.float16)
    c.add("MatMul", ["x", "w"], "t"), c.add("Relu", ["t"], "o1"), c.add("Cast", ["t"], "o2", to=TensorProto.FLOAT)
    c.save()
    c = Case("external", 13)
    c.input("x", [2, 8])
    c.noise("w", [8, 3]), c.noise("b", [3])
    c.add("Gemm", ["x", "w", "b"], "o1")
    c.save(external=True)


def samples():
    """Places beyond the borders, on them, and on pixels; regions that leave the image."""
    c = Case("samples", 20)
    c.input("x", [2, 3, 5, 7]), c.input("v", [1, 2, 3, 4, 5])
    c.input("g", [2, 4, 3, 2], low=-1.7, high=1.7), c.input("gv", [1, 2, 3, 4, 3], low=-1.5, high=1.5)
    places = [[-1, 1, 0, 0.5, -0.6, 1.0], [-3.3, 2.9, -1, -1, 0.2, -0.2]]
    c.inputs["g"][0, :, :, 0].flat[:6], c.inputs["g"][0, :, :, 1].flat[:6] = places
    n = 0
    for align in (0, 1):
        for padding in ("zeros", "border", "reflection"):
            for mode in ("linear", "nearest", "cubic"):
                c.add("GridSample", ["x", "g"], f"o{n}", mode=mode, padding_mode=padding, align_corners=align)
                if mode != "cubic":
                    c.add("GridSample", ["v", "gv"], f"ov{n}", mode=mode, padding_mode=padding, align_corners=align)
                n += 1
    c.weight("rois", np.array([[0, 0, 6, 4], [-2, 1, 3, 9], [3, 2, 3.2, 2.1], [5, 4, 1, 1], [0.3, 0.7, 5.9, 3.1]], F32))
    c.ints("images", [0, 1, 1, 0, 1])
    for n, (ratio, mode) in enumerate(((2, "avg"), (1, "max"), (0, "avg"), (1, "avg"))):
        for k, transformation in enumerate(("half_pixel", "output_half_pixel")):
            c.add("RoiAlign", ["x", "rois", "images"], f"or{n}{k}", mode=mode, output_height=2, output_width=3, sampling_ratio=ratio,
                  spatial_scale=0.8, coordinate_transformation_mode=transformation)
    c.weight("boxes", np.array([[0, 0, 0, 6, 4], [1, -2, 1, 3, 9], [1, 3, 2, 3, 2], [0, 5, 4, 1, 1], [1, 40, 40, 50, 50]], F32))
    c.add("MaxRoiPool", ["x", "boxes"], "om", pooled_shape=[2, 3], spatial_scale=0.8)
    c.noise("theta", [2, 2, 3]), c.ints("size", [2, 1, 4, 5])
    c.add("AffineGrid", ["theta", "size"], "t1"), c.add("GridSample", ["x", "t1"], "oa")
    c.save()


def windows():
    c = Case("windows", 20)
    c.input("x", [2, 2, 6, 8]), c.input("l", [2, 3, 9])
    for n, order in enumerate((0, 1)):
        c.add("MaxPool", ["x"], [f"op{n}", f"oi{n}"], kernel_shape=[3, 2], strides=[2, 3], pads=[1, 0, 1, 1], storage_order=order)
    c.add("MaxPool", ["l"], ["opl", "oil"], kernel_shape=[3], strides=[2], pads=[1, 1])
    c.add("MaxPool", ["x"], ["p", "i"], kernel_shape=[2, 2], strides=[2, 2])
    c.add("MaxUnpool", ["p", "i"], "ou", kernel_shape=[2, 2], strides=[2, 2])
    c.input("c", [2, 18, 4]), c.ints("image", [4, 7]), c.ints("block", [3, 2])
    c.add("Col2Im", ["c", "image", "block"], "oc", strides=[2, 3], pads=[1, 0, 1, 1], dilations=[1, 2])
    c.noise("w", [2, 3, 3, 2])
    c.add("ConvTranspose", ["x", "w"], "ot", strides=[2, 2], output_shape=[12, 15])
    c.save()


def signals():
    c = Case("signals", 20)
    c.input("x", [2, 12, 5, 1]), c.input("z", [2, 12, 5, 2]), c.input("s", [2, 40, 1]), c.input("w", [16], low=0.1)
    c.input("long", [1, 256, 1])
    c.weight("one", np.int64(1)), c.weight("two", np.int64(2)), c.weight("length", np.int64(10)), c.weight("step", np.int64(7))
    c.add("DFT", ["x", "", "one"], "o1"), c.add("DFT", ["x", "", "one"], "o2", onesided=1), c.add("DFT", ["z", "", "two"], "o3")
    c.add("DFT", ["z", "", "one"], "o4", inverse=1), c.add("DFT", ["x", "length", "one"], "o5"), c.add("DFT", ["long", "", "one"], "o6")
    c.add("STFT", ["s", "step", "w"], "o7"), c.weight("frame", np.int64(16)), c.add("STFT", ["s", "step", "", "frame"], "o8", onesided=0)
    c.weight("n", np.int64(9))
    for n, op in enumerate(("HannWindow", "HammingWindow", "BlackmanWindow")):
        c.add(op, ["n"], f"ow{n}"), c.add(op, ["n"], f"ox{n}", periodic=0)
    for name, value in (("bands", np.int64(8)), ("bins", np.int64(64)), ("rate", np.int64(8192)), ("low", F32(0)), ("high", F32(4096))):
        c.weight(name, value)
    c.add("MelWeightMatrix", ["bands", "bins", "rate", "low", "high"], "om")
    c.input("words", [2, 9], np.int32, 2, 6)
    c.add("TfIdfVectorizer", ["words"], "ot", mode="TFIDF", min_gram_length=1, max_gram_length=2, max_skip_count=2, ngram_counts=[0, 3],
          ngram_indexes=[0, 2, 1, 4, 3], pool_int64s=[2, 3, 5, 4, 5, 2, 2], weights=[0.5, 1.0, 2.0, 3.0, 0.25])
    c.save()


def bits():
    c = Case("bits", 18)
    for name, dtype, top in (("b", np.uint8, 255), ("i", np.int32, 1 << 30), ("u", np.uint64, 1 << 62), ("k", np.uint32, 1 << 31)):
        c.input(name, [3, 5], dtype, 0 if name != "i" else -top, top)
        c.input(name + "2", [5], dtype, 0 if name != "i" else -top, top)
        for op in ("And", "Or", "Xor"):
            c.add("Bitwise" + op, [name, name + "2"], f"o{name}{op}")
        c.add("BitwiseNot", [name], f"o{name}Not")
    for name, dtype, bits in (("b", np.uint8, 8), ("u", np.uint64, 64), ("k", np.uint32, 32)):
        c.weight(name + "s", (np.arange(5) * (bits - 1) // 4).astype(dtype))
        for direction in ("LEFT", "RIGHT"):
            c.add("BitShift", [name, name + "s"], f"o{name}{direction}", direction=direction)
    c.save()


def sequences():
    c = Case("sequences", 20)
    c.input("x", [5, 3, 4]), c.input("lens", [3], np.int32)
    c.inputs["lens"][:] = [5, 2, 3]
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            tag = op + direction
            c.noise("w" + tag, [count, gates * 2, 4]), c.noise("r" + tag, [count, gates * 2, 2]), c.noise("b" + tag, [count, gates * 4])
            outputs = [f"o{tag}", f"oh{tag}"] + ([f"oc{tag}"] if op == "LSTM" else [])
            c.add(op, ["x", "w" + tag, "r" + tag, "b" + tag, "lens"], outputs, hidden_size=2, direction=direction)
    c.save()


def algebra():
    c = Case("algebra", 20)
    c.input("a", [2, 5, 5]), c.input("m", [3, 4]), c.input("v", [4]), c.input("u", [3]), c.input("t", [2, 4, 3])
    c.add("Det", ["a"], "o1")
    c.add("MatMul", ["m", "v"], "o2"), c.add("MatMul", ["u", "m"], "o3"), c.add("MatMul", ["v", "v"], "o4"), c.add("MatMul", ["t", "u"], "o5")
    c.add("MatMul", ["v", "t"], "o6")
    c.save()


if __name__ == "__main__":
    for version in (7, 9, 11, 13, 18):
        smallNetwork(version)
    convolutions(), pools(), volumes(), activations(), arithmetic(), reductions(), norms(), products(), shapes(), types()
    samples(), windows(), signals(), bits(), sequences(), algebra()
