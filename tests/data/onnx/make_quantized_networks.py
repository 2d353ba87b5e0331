#!/usr/bin/env python3
"""Writes small networks as other people's tools leave them, and what ONNX Runtime computes on them: a network of images
and one of texts, quantized by onnxruntime.quantization and fused by onnxruntime.transformers; and one in functions, as
PyTorch's exporter writes them. Run by hand (pip install numpy onnx onnxruntime sympy).
"""
import logging
import os
import tempfile
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.transformers import optimizer

FOLDER = os.path.dirname(os.path.abspath(__file__))
BATCH, TOKENS, WORDS, WIDTH, HEADS, INNER = 2, 6, 20, 16, 2, 32


class Graph:
    def __init__(self):
        self.random, self.nodes, self.weights = np.random.default_rng(7), [], []

    def weight(self, *shape):
        bound = 1 / np.sqrt(max(1, int(np.prod(shape[1:]))))
        return self.value((self.random.standard_normal(shape) * bound).astype(np.float32))

    def value(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def __call__(self, op, inputs, **attributes):
        output = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"{op}_{len(self.nodes)}", **attributes))
        return output

    def save(self, path, inputs, outputs):
        for name, value in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value], [name], name=name))
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in inputs.items()]
        graph = helper.make_graph(self.nodes, "net", infos, [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


def imageInputs(seed):
    return {"image": np.random.default_rng(seed).standard_normal((1, 3, 16, 16)).astype(np.float32)}


def imageNetwork(path):
    g = Graph()
    x = g("Relu", [g("Conv", ["image", g.weight(8, 3, 3, 3), g.weight(8)], pads=[1] * 4, strides=[2, 2])])
    x = g("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    y = g("Relu", [g("Conv", [x, g.weight(8, 1, 3, 3), g.weight(8)], pads=[1] * 4, group=8)])
    x = g("Relu", [g("Add", [x, g("Conv", [y, g.weight(8, 8, 1, 1), g.weight(8)])])])
    gate = g("Sigmoid", [g("Conv", [g("GlobalAveragePool", [x]), g.weight(8, 8, 1, 1), g.weight(8)])])
    x = g("Mul", [x, gate])
    y = g("LeakyRelu", [g("Conv", [x, g.weight(4, 8, 2, 2), g.weight(4)], strides=[2, 2])], alpha=0.1)
    x = g("Concat", [g("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2]), y], axis=1)
    x = g("Flatten", [g("GlobalAveragePool", [g("Relu", [g("Conv", [x, g.weight(12, 12, 3, 3), g.weight(12)], pads=[1] * 4)])])])
    g.save(path, imageInputs(0), {"probabilities": g("Softmax", [g("Gemm", [x, g.weight(12, 5), g.weight(5)])])})


def textInputs(seed):
    random = np.random.default_rng(seed)
    mask = np.ones((BATCH, TOKENS), np.int64)
    mask[1, 4:] = 0
    return {"input_ids": random.integers(0, WORDS, (BATCH, TOKENS)), "token_type_ids": random.integers(0, 2, (BATCH, TOKENS)), "attention_mask": mask}


def textNetwork(path):
    """One layer of BERT, in the operators that exporters write and the fusions look for."""
    g = Graph()
    number, axis = (lambda v: g.value(np.float32(v))), (lambda v: g.value(np.array(v, np.int64)))

    def normal(x):
        return g("LayerNormalization", [x, g.value((1 + 0.1 * g.random.standard_normal(WIDTH)).astype(np.float32)), g.weight(WIDTH)], axis=-1, epsilon=1e-12)

    def linear(x, i, o):
        return g("Add", [g.weight(o), g("MatMul", [x, g.weight(i, o)])])

    def heads(x, order):
        return g("Transpose", [g("Reshape", [linear(x, WIDTH, WIDTH), axis([0, 0, HEADS, WIDTH // HEADS])])], perm=order)

    words, parts = g("Gather", [g.weight(WORDS, WIDTH), "input_ids"]), g("Gather", [g.weight(2, WIDTH), "token_type_ids"])
    places = g("Gather", [g.weight(TOKENS, WIDTH), axis(np.arange(TOKENS)[None])])
    x = normal(g("Add", [g("Add", [words, parts]), places]))
    mask = g("Cast", [g("Unsqueeze", [g("Unsqueeze", ["attention_mask", axis([1])]), axis([2])])], to=TensorProto.FLOAT)
    mask = g("Mul", [g("Sub", [number(1), mask]), number(-10000)])
    scores = g("Div", [g("MatMul", [heads(x, [0, 2, 1, 3]), heads(x, [0, 2, 3, 1])]), number(np.sqrt(WIDTH // HEADS))])
    mixed = g("MatMul", [g("Softmax", [g("Add", [scores, mask])], axis=-1), heads(x, [0, 2, 1, 3])])
    mixed = g("Reshape", [g("Transpose", [mixed], perm=[0, 2, 1, 3]), axis([0, 0, WIDTH])])
    x = normal(g("Add", [linear(mixed, WIDTH, WIDTH), x]))
    f = linear(x, WIDTH, INNER)
    erf = g("Erf", [g("Div", [f, number(np.sqrt(2))])])
    f = g("Mul", [g("Mul", [f, g("Add", [erf, number(1)])]), number(0.5)])
    x = normal(g("Add", [linear(f, INNER, WIDTH), x]))
    first = g("Gather", [x, axis(0)], axis=1)
    g.save(path, textInputs(0), {"hidden": x, "pooled": g("Tanh", [g("Gemm", [first, g.weight(WIDTH, WIDTH), g.weight(WIDTH)])])})


class Samples(CalibrationDataReader):
    def __init__(self, inputs):
        self.left = iter([inputs(seed) for seed in range(8)])

    def get_next(self):
        return next(self.left, None)


def functionsNetwork(path):
    """Functions of several domains that call each other, with attributes of their own and defaults."""
    own = [helper.make_opsetid("", 18), helper.make_opsetid("pkg.onnxscript.torch_lib", 1), helper.make_opsetid("pkg.onnxscript.torch_lib.common", 1)]
    lib, common = "pkg.onnxscript.torch_lib", "pkg.onnxscript.torch_lib.common"
    node, info = helper.make_node, (lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, None))

    def referring(made, attribute, name, kind):
        made.attribute.append(onnx.AttributeProto(name=attribute, ref_attr_name=name, type=kind))
        return made

    def branch(nodes, output):
        return helper.make_graph(nodes, output, [], [helper.make_tensor_value_info(output, TensorProto.INT64, None)])

    isScalar = helper.make_function(common, "IsScalar", ["input"], ["return_val"], [
        node("Shape", ["input"], ["tmp"]), node("Size", ["tmp"], ["tmp_0"]), node("Constant", [], ["tmp_1"], value_int=0),
        node("Equal", ["tmp_0", "tmp_1"], ["return_val"])], own)
    mean = helper.make_function(lib, "aten_mean_dim", ["self", "dim"], ["result"], [
        node("IsScalar", ["dim"], ["cond"], domain=common),
        node("If", ["cond"], ["dim_2"],
             then_branch=branch([node("Constant", [], ["zero"], value_ints=[0]), node("Unsqueeze", ["dim", "zero"], ["dim_0"])], "dim_0"),
             else_branch=branch([node("Identity", ["dim"], ["dim_1"])], "dim_1")),
        referring(node("ReduceMean", ["self", "dim_2"], ["result"]), "keepdims", "keepdim", onnx.AttributeProto.INT)], own, ["keepdim"])
    gelu = helper.make_function(lib, "aten_gelu", ["self"], ["result"], [
        referring(node("Constant", [], ["a"]), "value_float", "alpha", onnx.AttributeProto.FLOAT), node("Mul", ["self", "a"], ["m"]),
        node("Sigmoid", ["m"], ["s"]), node("Mul", ["self", "s"], ["result"])], own, attribute_protos=[helper.make_attribute("alpha", 1.5)])
    addmm = helper.make_function(lib, "aten_addmm", ["self", "left", "right"], ["result"], [
        referring(node("Gemm", ["left", "right", "self"], ["result"]), "alpha", "alpha", onnx.AttributeProto.FLOAT)], own,
        attribute_protos=[helper.make_attribute("alpha", 1.0)])
    linear = helper.make_function("pkg.torch.nn.modules.linear", "Linear_fc", ["x", "w", "b"], ["y"], [
        node("Transpose", ["w"], ["t"], perm=[1, 0]), node("aten_addmm", ["b", "x", "t"], ["y"], domain=lib, alpha=0.5)], own)
    random = np.random.default_rng(5)
    weights = [numpy_helper.from_array(random.standard_normal((8, 6)).astype(np.float32), "fc.weight"),
               numpy_helper.from_array(random.standard_normal(8).astype(np.float32), "fc.bias"),
               numpy_helper.from_array(np.array([1], np.int64), "axes"), numpy_helper.from_array(np.array(-1, np.int64), "axis")]
    nodes = [node("Linear_fc", ["x", "fc.weight", "fc.bias"], ["h"], domain="pkg.torch.nn.modules.linear", name="fc"),
             node("aten_gelu", ["h"], ["g"], domain=lib, name="gelu_1"), node("aten_gelu", ["g"], ["result"], domain=lib, name="gelu_2", alpha=0.7),
             node("aten_mean_dim", ["result", "axes"], ["m"], domain=lib, name="mean_1", keepdim=1), node("Sub", ["result", "m"], ["y"]),
             node("aten_mean_dim", ["result", "axis"], ["z"], domain=lib, name="mean_2", keepdim=0)]
    x = {"x": random.standard_normal((5, 6)).astype(np.float32)}
    graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 6])], [info("y"), info("z")], weights)
    opsets = own + [helper.make_opsetid("pkg.torch.nn.modules.linear", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, functions=[isScalar, mean, gelu, addmm, linear], ir_version=9), path)
    return x


def golden(path, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    types = {i.name: np.int32 if "int32" in i.type else None for i in session.get_inputs()}
    inputs = {n: v.astype(types[n] or v.dtype) for n, v in inputs.items()}
    with open(path[:-5] + ".bin", "wb") as out:
        for array in [inputs[i.name] for i in session.get_inputs()] + session.run(None, inputs):
            out.write(np.ascontiguousarray(array).tobytes())


def main():
    logging.disable(logging.WARNING)
    onnxruntime.set_default_logger_severity(4)
    target = lambda name: os.path.join(FOLDER, f"contrib_{name}.onnx")
    with tempfile.TemporaryDirectory() as folder:
        image, text, fused = (os.path.join(folder, n) for n in ("image.onnx", "text.onnx", "fused.onnx"))
        imageNetwork(image), textNetwork(text)
        operators = dict(quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8)
        quantize_static(image, target("net_operators"), Samples(imageInputs), weight_type=QuantType.QInt8, per_channel=True, **operators)
        quantize_dynamic(image, target("net_dynamic"), weight_type=QuantType.QUInt8)
        quantize_static(text, target("net_pairs"), Samples(textInputs), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8, weight_type=QuantType.QUInt8)
        optimizer.optimize_model(text, model_type="bert", num_heads=HEADS, hidden_size=WIDTH, opt_level=0).save_model_to_file(fused)
        quantize_dynamic(fused, target("net_fused"), weight_type=QuantType.QInt8)
    for name in ("net_operators", "net_dynamic"):
        golden(target(name), imageInputs(9))
    for name in ("net_pairs", "net_fused"):
        golden(target(name), textInputs(9))
    golden(target("net_functions"), functionsNetwork(target("net_functions")))


if __name__ == "__main__":
    main()
