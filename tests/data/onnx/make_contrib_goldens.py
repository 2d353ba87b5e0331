#!/usr/bin/env python3
"""Writes models of ONNX Runtime's own operators (com.microsoft) and of the standard's on quantized tensors, and what
ONNX Runtime computes on them, without its optimizations. As make_goldens.py otherwise, and run like it.
"""
import os
import numpy as np
import onnx
import onnxruntime
from onnx import helper
from make_goldens import FOLDER, Case

F32, F16, U8, I8, I32, I64 = np.float32, np.float16, np.uint8, np.int8, np.int32, np.int64
MS = "com.microsoft"


class ContribCase(Case):
    def __init__(self, name, opset=21):
        super().__init__("contrib_" + name, opset)

    def ms(self, op, inputs, output, **attributes):
        return self.add(op, inputs, output, domain=MS, **attributes)

    def whole(self, name, shape, dtype, low=None, high=None, weight=False):
        ends = np.iinfo(dtype)
        values = self.random.integers(ends.min if low is None else low, (ends.max if high is None else high) + 1, shape)
        if weight:
            return self.weight(name, values.astype(dtype))
        self.inputs[name], self.symbols[name] = values.astype(dtype), list(shape)
        return name

    def scale(self, name, value):
        return self.weight(name, np.array(value, F32))

    def save(self):
        infos = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in self.inputs.items()]
        graph = helper.make_graph(self.nodes, self.name, infos, [helper.make_empty_tensor_value_info(o) for o in self.outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset), helper.make_opsetid(MS, 1)], ir_version=10)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        results = session.run(self.outputs, self.inputs)
        del model.graph.output[:]
        model.graph.output.extend(helper.make_tensor_value_info(o, helper.np_dtype_to_tensor_dtype(r.dtype), r.shape) for o, r in zip(self.outputs, results))
        onnx.save(model, os.path.join(FOLDER, self.name + ".onnx"))
        with open(os.path.join(FOLDER, self.name + ".bin"), "wb") as out:
            for array in list(self.inputs.values()) + results:
                out.write(np.ascontiguousarray(array).tobytes())


def fused():
    c = ContribCase("fused")
    c.input("x", [2, 3, 7, 5]), c.noise("w", [4, 3, 3, 2]), c.noise("b", [4])
    c.input("z", [2, 4, 4, 4])
    same = dict(strides=[2, 1], pads=[1, 0, 1, 0])
    c.ms("FusedConv", ["x", "w", "b"], "o_conv_relu", activation="Relu", **same)
    c.ms("FusedConv", ["x", "w"], "o_conv_leaky", activation="LeakyRelu", activation_params=[0.2], **same)
    c.ms("FusedConv", ["x", "w", "b"], "o_conv_clip", activation="Clip", activation_params=[-0.25, 0.4], **same)
    c.ms("FusedConv", ["x", "w", "b"], "o_conv_hard", activation="HardSigmoid", activation_params=[0.3, 0.4], **same)
    c.ms("FusedConv", ["x", "w", "b", "z"], "o_conv_sum", activation="Relu", **same)
    c.ms("FusedConv", ["x", "w", "b"], "o_conv_tanh", activation="Tanh", **same)
    c.input("m", [3, 2, 4, 5]), c.input("n", [3, 2, 4, 6]), c.input("v", [2, 3, 6, 5])
    c.ms("FusedMatMul", ["m", "n"], "o_product", transA=1, alpha=0.5)
    c.input("q", [2, 3, 4, 5]), c.input("k", [3, 4, 6, 5])
    c.ms("FusedMatMul", ["q", "v"], "o_product_b", transB=1, alpha=0.25)
    c.input("r", [4, 2, 3, 5]), c.input("s", [6, 2, 3, 5])
    c.ms("FusedMatMul", ["r", "s"], "o_product_batches", transBatchA=1, transBatchB=1, transB=1)
    c.input("a", [4, 6]), c.noise("g", [6, 5]), c.noise("h", [5])
    c.ms("FusedGemm", ["a", "g", "h"], "o_gemm_relu", activation="Relu", alpha=0.5, beta=2.0)
    c.ms("FusedGemm", ["a", "g"], "o_gemm_leaky", activation="LeakyRelu", activation_alpha=0.3)
    c.ms("FusedGemm", ["a", "g", "h"], "o_gemm_sigmoid", activation="Sigmoid")
    c.input("u", [2, 3, 9], low=-6, high=6), c.noise("bias", [9])
    c.ms("Gelu", ["u"], "o_gelu"), c.ms("BiasGelu", ["u", "bias"], "o_bias_gelu"), c.ms("QuickGelu", ["u"], "o_quick_gelu")
    c.ms("QuickGelu", ["u"], "o_quick_gelu_1", alpha=1.0)
    c.ms("FastGelu", ["u"], "o_fast_gelu"), c.ms("FastGelu", ["u", "bias"], "o_fast_gelu_bias")
    c.input("square", [2, 2, 5, 5]), c.ms("Inverse", ["square"], "o_inverse")
    c.ints("pads", [0, 1, 2, 1, 0, 0]), c.weight("fill", F32(0.5))
    c.ms("Pad", ["u", "pads", "fill"], "o_pad"), c.ms("Pad", ["u", "pads"], "o_pad_edge", mode="edge")
    for dtype in (U8, I8):
        n = np.dtype(dtype).name
        c.whole("p" + n, [1, 7, 6, 5], dtype)
        c.ms("NhwcMaxPool", ["p" + n], "o_pool_" + n, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
    c.save()


def norms():
    c = ContribCase("norms")
    c.input("x", [2, 3, 10]), c.input("skip", [2, 3, 10]), c.input("row", [3, 10])
    c.noise("gamma", [10], 0.5, 1.5), c.noise("beta", [10]), c.noise("bias", [10])
    c.ms("SkipLayerNormalization", ["x", "skip", "gamma", "beta", "bias"], ["o_skip", "", "", "o_skip_sum"], epsilon=1e-5)
    c.ms("SkipLayerNormalization", ["x", "row", "gamma"], "o_skip_row")
    c.ms("SkipLayerNormalization", ["x", "skip", "gamma", "", "bias"], "o_skip_bias", epsilon=1e-3)
    c.ms("SkipSimplifiedLayerNormalization", ["x", "skip", "gamma", "bias"], ["o_rms", "", "", "o_rms_sum"], epsilon=1e-5)
    c.ms("SkipSimplifiedLayerNormalization", ["x", "skip", "gamma"], "o_rms_plain")
    c.add("SimplifiedLayerNormalization", ["x", "gamma"], "o_simplified", epsilon=1e-4, axis=-1)
    c.whole("ids", [2, 4], I32, 0, 11), c.whole("segments", [2, 4], I32, 0, 1), c.whole("mask", [2, 4], I32, 0, 1)
    c.whole("places", [2, 4], I32, 0, 5)
    c.noise("words", [12, 10]), c.noise("positions", [6, 10]), c.noise("parts", [2, 10])
    c.ms("EmbedLayerNormalization", ["ids", "segments", "words", "positions", "parts", "gamma", "beta", "mask"],
         ["o_embed", "o_embed_count"], epsilon=1e-6)
    c.ms("EmbedLayerNormalization", ["ids", "", "words", "positions", "", "gamma", "beta"], ["o_embed_plain", "o_embed_none"])
    c.ms("EmbedLayerNormalization", ["ids", "segments", "words", "positions", "parts", "gamma", "beta", "", "places"],
         ["o_embed_places", "o_embed_places_none", "o_embed_sum"])
    tables = [("qwords", [12, 10]), ("qpositions", [6, 10]), ("qparts", [2, 10]), ("qgamma", [10]), ("qbeta", [10])]
    for n, shape in tables:
        c.whole(n, shape, U8, weight=True), c.scale(n + "s", 0.01), c.weight(n + "z", np.array(c.random.integers(100, 150), U8))
    c.ms("QEmbedLayerNormalization", ["ids", "segments"] + [n for n, _ in tables] + ["mask"] + [n + "s" for n, _ in tables] + [n + "z" for n, _ in tables],
         ["o_embed_quantized", "o_embed_quantized_count"], epsilon=1e-6)
    c.save()
    c = ContribCase("norms_half")
    c.input("x", [2, 3, 10], F16), c.input("skip", [2, 3, 10], F16)
    c.noise("gamma", [10], 0.5, 1.5, F16), c.noise("beta", [10], dtype=F16), c.noise("bias", [10], dtype=F16)
    c.ms("SkipLayerNormalization", ["x", "skip", "gamma", "beta", "bias"], ["o_skip", "", "", "o_skip_sum"], epsilon=1e-5)
    c.ms("SkipSimplifiedLayerNormalization", ["x", "skip", "gamma"], ["o_rms", "", "", "o_rms_sum"], epsilon=1e-5)
    c.add("SimplifiedLayerNormalization", ["x", "gamma"], "o_simplified", epsilon=1e-4, axis=-1)
    c.ms("Gelu", ["x"], "o_gelu")
    c.save()


def attention():
    c = ContribCase("attention")
    c.input("x", [2, 5, 6]), c.noise("w", [6, 24]), c.noise("b", [24])
    c.ms("Attention", ["x", "w", "b"], "o_plain", num_heads=2)
    c.ms("Attention", ["x", "w", "b"], "o_causal", num_heads=4, unidirectional=1, mask_filter_value=-3.0)
    c.whole("lengths", [2], I32, 1, 5), c.whole("raw", [2, 5], I32, 0, 1), c.whole("raw3", [2, 5, 5], I32, 0, 1)
    c.weight("ends", np.array([4, 5, 1, 2], I32))
    for name in ("lengths", "raw", "raw3", "ends"):
        c.ms("Attention", ["x", "w", "b", name], "o_mask_" + name, num_heads=2, mask_filter_value=-2.0)
        c.ms("Attention", ["x", "w", "b", name], "o_both_" + name, num_heads=2, unidirectional=1, mask_filter_value=-2.0, scale=0.7)
    c.ms("Attention", ["x", "w", "b", "raw"], "o_mask_default", num_heads=2)
    c.input("past", [2, 2, 2, 3, 4]), c.whole("rawpast", [2, 8], I32, 0, 1)
    c.ms("Attention", ["x", "w", "b", "", "past"], ["o_past", "o_present"], num_heads=2, unidirectional=1)
    c.ms("Attention", ["x", "w", "b", "rawpast", "past"], ["o_past_mask", "o_present_mask"], num_heads=2)
    c.input("extra", [1, 2, 5, 5])
    c.ms("Attention", ["x", "w", "b", "", "", "extra"], "o_extra", num_heads=2)
    c.noise("w2", [6, 20]), c.noise("b2", [20])
    c.ms("Attention", ["x", "w2", "b2"], "o_widths", num_heads=2, qkv_hidden_sizes=[8, 8, 4])

    c.input("q", [2, 3, 8]), c.input("k", [2, 5, 8]), c.input("v", [2, 5, 12]), c.noise("bias", [28])
    c.ms("MultiHeadAttention", ["q", "k", "v"], "o_heads", num_heads=4)
    c.ms("MultiHeadAttention", ["q", "k", "v", "bias"], "o_heads_bias", num_heads=2, scale=0.3)
    c.ms("MultiHeadAttention", ["q", "k", "v", "", "raw"], "o_heads_mask", num_heads=2)
    c.ms("MultiHeadAttention", ["q", "k", "v", "", "lengths"], "o_heads_lengths", num_heads=2, mask_filter_value=-4.0)
    c.input("extra2", [2, 1, 3, 5])
    c.ms("MultiHeadAttention", ["q", "k", "v", "", "", "extra2"], "o_heads_extra", num_heads=4)
    c.input("k4", [2, 2, 5, 4]), c.input("v4", [2, 2, 5, 4])
    c.ms("MultiHeadAttention", ["q", "k4", "v4"], "o_heads_4", num_heads=2)
    c.input("q2", [2, 3, 8]), c.input("k2", [2, 3, 8]), c.input("v2", [2, 3, 8])
    c.input("pastk", [2, 2, 4, 4]), c.input("pastv", [2, 2, 4, 4])
    c.ms("MultiHeadAttention", ["q2", "k2", "v2", "", "", "", "pastk", "pastv"], ["o_heads_past", "o_heads_k", "o_heads_v"], num_heads=2, unidirectional=1)

    c.noise("cos", [9, 2]), c.noise("sin", [9, 2])
    c.weight("from", np.array([3], I64)), c.whole("at", [2, 3], I64, 0, 8)
    c.ms("RotaryEmbedding", ["q2", "at", "cos", "sin"], "o_rotary")
    c.ms("RotaryEmbedding", ["q2", "from", "cos", "sin"], "o_rotary_from", interleaved=1)
    c.ms("RotaryEmbedding", ["k4", "at5", "cos", "sin"], "o_rotary_4"), c.whole("at5", [2, 5], I64, 0, 8)
    c.noise("cos1", [9, 1]), c.noise("sin1", [9, 1])
    c.ms("RotaryEmbedding", ["q2", "at", "cos1", "sin1"], "o_rotary_part", num_heads=2, rotary_embedding_dim=2)

    for dtype, kind in ((U8, I8), (U8, U8)):
        n = np.dtype(dtype).name + np.dtype(kind).name
        c.whole("i" + n, [2, 5, 6], dtype), c.whole("w" + n, [6, 24], kind, -60 if kind == I8 else 70, 60 if kind == I8 else 190, weight=True)
        c.scale("is" + n, 0.01), c.scale("ws" + n, 0.02)
        c.weight("iz" + n, np.array(130, dtype)), c.weight("wz" + n, np.array(0 if kind == I8 else 129, kind))
        c.ms("QAttention", ["i" + n, "w" + n, "b", "is" + n, "ws" + n, "raw", "iz" + n, "wz" + n], "o_q" + n, num_heads=2)
    c.weight("wss", np.linspace(0.01, 0.03, 24).astype(F32)), c.weight("wzz", np.zeros(24, I8))
    c.ms("QAttention", ["iuint8int8", "wuint8int8", "b", "isuint8int8", "wss", "", "izuint8int8", "wzz"], "o_q_columns", num_heads=2, unidirectional=1)
    c.ms("QAttention", ["iuint8int8", "wuint8int8", "b", "isuint8int8", "wsuint8int8", "", "izuint8int8", "wzuint8int8", "past"],
         ["o_q_past", "o_q_present"], num_heads=2, unidirectional=1)
    c.save()


def quantized():
    c = ContribCase("quantized")
    for dtype in (U8, I8):
        n = np.dtype(dtype).name
        mid = 128 if dtype == U8 else 0
        c.whole("a" + n, [2, 3, 5, 7], dtype), c.whole("b" + n, [3, 1, 7], dtype)
        c.scale("as" + n, 0.043), c.scale("bs" + n, 0.021), c.scale("ys" + n, 0.05731)
        c.weight("az" + n, np.array(mid + 3, dtype)), c.weight("bz" + n, np.array(mid - 9, dtype)), c.weight("yz" + n, np.array(mid + 11, dtype))
        pair = [s + n for s in ("a", "as", "az", "b", "bs", "bz", "ys", "yz")]
        one = [s + n for s in ("a", "as", "az", "ys", "yz")]
        c.ms("QLinearAdd", pair, "o_add" + n), c.ms("QLinearMul", pair, "o_mul" + n)
        c.ms("QLinearLeakyRelu", one, "o_leaky" + n, alpha=0.1)
        c.scale("ss" + n, 1 / 256), c.weight("sz" + n, np.array(0 if dtype == U8 else -128, dtype))
        c.ms("QLinearSigmoid", one[:3] + ["ss" + n, "sz" + n], "o_sigmoid" + n)
        c.ms("QLinearSoftmax", one[:3] + ["ss" + n, "sz" + n], "o_softmax" + n, axis=-1, opset=13)
        c.ms("QLinearAveragePool", one, "o_pool" + n, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
        c.ms("QLinearAveragePool", one, "o_pool_pad" + n, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
        c.ms("QLinearAveragePool", one, "o_pool_last" + n, kernel_shape=[2, 2], channels_last=1)
        c.ms("QLinearGlobalAveragePool", one, "o_global" + n), c.ms("QLinearGlobalAveragePool", one, "o_global_last" + n, channels_last=1)
        c.whole("c" + n, [2, 3, 2, 7], dtype)
        c.ms("QLinearConcat", ["ys" + n, "yz" + n, "a" + n, "as" + n, "az" + n, "c" + n, "ys" + n, "yz" + n], "o_concat" + n, axis=2)
        c.inputs["if"], c.symbols["if"] = c.random.integers(0, 2, [2, 3, 5, 7]).astype(bool), [2, 3, 5, 7]
        c.ms("QLinearWhere", ["if", "a" + n, "as" + n, "az" + n, "b" + n, "bs" + n, "bz" + n, "ys" + n, "yz" + n], "o_where" + n)
    c.save()


def products():
    c = ContribCase("products")
    c.input("x", [2, 3, 10], low=-2, high=3)
    for a in (U8, I8):
        for b in (U8, I8):
            n = np.dtype(a).name + np.dtype(b).name
            c.whole("a" + n, [3, 10], a), c.whole("b" + n, [10, 6], b, weight=True)
            c.weight("az" + n, np.array(7, a)), c.weight("bz" + n, np.array(5, b))
            c.weight("bzz" + n, c.random.integers(0, 100, 6).astype(b)), c.weight("bss" + n, c.random.uniform(0.01, 0.05, 6).astype(F32))
            c.scale("as" + n, 0.03), c.scale("bs" + n, 0.02), c.scale("ys" + n, 0.21), c.weight("yz" + n, np.array(17, a)), c.noise("bias" + n, [6])
            left, whole, columns = ["a" + n, "as" + n, "az" + n], ["b" + n, "bs" + n, "bz" + n], ["b" + n, "bss" + n, "bzz" + n]
            if not (a == I8 and b == U8): # ONNX Runtime lacks that
                c.add("MatMulInteger", ["a" + n, "b" + n, "az" + n, "bz" + n], "o_integer" + n)
                c.add("MatMulInteger", ["a" + n, "b" + n, "az" + n, "bzz" + n], "o_integer_columns" + n)
                c.add("QLinearMatMul", left + whole + ["ys" + n, "yz" + n], "o_qlinear" + n)
                c.add("QLinearMatMul", left + columns + ["ys" + n, "yz" + n], "o_qlinear_columns" + n)
                c.ms("MatMulIntegerToFloat", ["a" + n, "b" + n, "as" + n, "bs" + n, "az" + n, "bz" + n, "bias" + n], "o_float" + n)
                c.ms("MatMulIntegerToFloat", ["a" + n, "b" + n, "as" + n, "bss" + n, "az" + n, "bzz" + n], "o_float_columns" + n)
                c.ms("QGemm", left + whole + ["gb" + n, "ys" + n, "yz" + n], "o_gemm" + n, alpha=0.5)
                c.ms("QGemm", left + columns, "o_gemm_float" + n)
                c.weight("gb" + n, c.random.integers(-2000, 2000, 6).astype(I32))
            if a == U8:
                c.ms("DynamicQuantizeMatMul", ["x", "b" + n, "bs" + n, "bz" + n, "bias" + n], "o_dynamic" + n)
                c.ms("DynamicQuantizeMatMul", ["x", "b" + n, "bss" + n], "o_dynamic_columns" + n)
    # Scales of columns behind a product of three dimensions.
    c.whole("deep", [2, 3, 10], U8)
    c.add("QLinearMatMul", ["deep", "asuint8int8", "azuint8int8", "buint8int8", "bssuint8int8", "bzzuint8int8", "ysuint8int8", "yzuint8int8"], "o_deep")
    c.save()
    c = ContribCase("convolutions")
    for a, w in ((U8, U8), (U8, I8), (I8, I8)):
        n = np.dtype(a).name + np.dtype(w).name
        c.whole("x" + n, [2, 4, 7, 6], a), c.whole("w" + n, [6, 2, 3, 2], w, weight=True)
        c.scale("xs" + n, 0.03), c.scale("ws" + n, 0.02), c.scale("ys" + n, 0.9)
        c.weight("wss" + n, c.random.uniform(0.01, 0.05, 6).astype(F32)), c.weight("wzz" + n, np.full(6, 0 if w == I8 else 120, w))
        c.weight("xz" + n, np.array(121 if a == U8 else -7, a)), c.weight("wz" + n, np.array(131 if w == U8 else 4, w)), c.weight("yz" + n, np.array(90 if a == U8 else -3, a))
        c.weight("b" + n, c.random.integers(-3000, 3000, 6).astype(I32))
        how = dict(group=2, strides=[2, 1], pads=[0, 1, 2, 1], dilations=[1, 2])
        x, y = ["x" + n, "xs" + n, "xz" + n], ["ys" + n, "yz" + n]
        c.add("QLinearConv", x + ["w" + n, "ws" + n, "wz" + n] + y + ["b" + n], "o_conv" + n, **how)
        c.add("QLinearConv", x + ["w" + n, "wss" + n, "wzz" + n] + y, "o_conv_channels" + n, **how)
        if a == U8:
            c.add("ConvInteger", ["x" + n, "w" + n, "xz" + n, "wz" + n], "o_integer" + n, **how)
            c.add("ConvInteger", ["x" + n, "w" + n], "o_integer_none" + n, auto_pad="SAME_UPPER", group=2)
    c.whole("line", [1, 3, 9], U8), c.whole("taps", [2, 3, 3], I8, weight=True), c.weight("lz", np.array(7, U8)), c.weight("tz", np.array(0, I8))
    c.scale("ls", 0.02), c.scale("ts", 0.04), c.scale("os", 0.3)
    c.add("QLinearConv", ["line", "ls", "lz", "taps", "ts", "tz", "os", "lz"], "o_line", pads=[1, 1])
    c.weight("tss", np.array([0.04, 0.07], F32)), c.weight("tzz", np.array([0, 0], I8))
    c.add("QLinearConv", ["line", "ls", "lz", "taps", "tss", "tzz", "os", "lz"], "o_line_channels", strides=[2])
    c.save()


def linear():
    c = ContribCase("linear")
    ties = np.arange(-40, 41, dtype=F32) / 4
    c.inputs["ties"], c.symbols["ties"] = ties, [81]
    c.inputs["edge"], c.symbols["edge"] = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 0, -0.0, 1e-40, 127.5, 254.5, 1e6], F32), [11]
    c.input("x", [3, 4, 6], low=-30, high=30), c.input("half", [3, 4, 6], F16, low=-30, high=30)
    for dtype in (U8, I8, np.uint16, np.int16):
        n = np.dtype(dtype).name
        c.scale("s" + n, 0.5), c.weight("z" + n, np.array(5, dtype)), c.weight("h" + n, np.array(0.0371, F16))
        c.weight("ss" + n, c.random.uniform(0.01, 0.3, 4).astype(F32)), c.weight("zz" + n, c.random.integers(0, 90, 4).astype(dtype))
        c.add("QuantizeLinear", ["ties", "s" + n, "z" + n], "o_ties" + n), c.add("QuantizeLinear", ["edge", "s" + n, "z" + n], "o_edge" + n)
        c.add("QuantizeLinear", ["x", "ss" + n, "zz" + n], "o_axis" + n, axis=1), c.add("QuantizeLinear", ["x", "s" + n], "o_type" + n, output_dtype=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
        c.add("QuantizeLinear", ["half", "h" + n, "z" + n], "o_half" + n)
        c.add("DequantizeLinear", ["o_axis" + n, "ss" + n, "zz" + n], "o_back" + n, axis=-2)
        c.add("DequantizeLinear", ["o_half" + n, "h" + n, "z" + n], "o_back_half" + n)
        c.weight("bs" + n, c.random.uniform(0.05, 0.3, [3, 4, 2]).astype(F32)), c.weight("bz" + n, c.random.integers(0, 90, [3, 4, 2]).astype(dtype))
        c.add("QuantizeLinear", ["x", "bs" + n, "bz" + n], "o_block" + n, axis=2, block_size=3)
        c.add("DequantizeLinear", ["o_block" + n, "bs" + n, "bz" + n], "o_block_back" + n, axis=2, block_size=3)
    c.whole("wide", [4, 5], I32, -2**31, 2**31 - 1), c.scale("ws", 1e-6), c.add("DequantizeLinear", ["wide", "ws"], "o_wide")
    c.inputs["one"], c.symbols["one"] = np.array(1.75, F32), []
    c.add("QuantizeLinear", ["one", "sint8", "zint8"], "o_one"), c.add("DequantizeLinear", ["o_one", "sint8", "zint8"], "o_one_back")
    c.ms("QuantizeLinear", ["x", "sint8", "zint8"], "o_ms"), c.ms("DequantizeLinear", ["o_ms", "sint8", "zint8"], "o_ms_back")
    c.add("DynamicQuantizeLinear", ["x"], ["o_dynamic", "o_dynamic_scale", "o_dynamic_zero"])
    c.save()


if __name__ == "__main__":
    fused(), norms(), attention(), quantized(), products(), linear()
