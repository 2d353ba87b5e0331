#!/usr/bin/env python3
"""Writes the models with control flow of this folder and what ONNX Runtime computes on them.

Run by hand when a case is added (pip install numpy onnx onnxruntime); nothing here is needed to build or test Lathe.
NAME.onnx is the model; NAME.bin holds one run behind the other: its inputs, then its outputs, in the model's order, raw
little-endian values. An output that ends sooner than its shape says is filled up with zeros, behind its true extent.
"""
import os
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper

FOLDER = os.path.dirname(os.path.abspath(__file__))
F32, I64 = np.float32, np.int64
ELEMENT = {np.dtype(F32): T.FLOAT, np.dtype(I64): T.INT64, np.dtype(bool): T.BOOL}
random = np.random.default_rng(23)


def info(name, dtype=T.FLOAT, shape=None):
    return h.make_tensor_value_info(name, dtype, shape)


def weight(name, shape, scale=0.5):
    return numpy_helper.from_array(random.uniform(-scale, scale, shape).astype(F32), name)


def const(name, value, dtype=I64):
    return numpy_helper.from_array(np.array(value, dtype), name)


def node(op, inputs, outputs, **attributes):
    outputs = outputs if isinstance(outputs, list) else [outputs]
    return h.make_node(op, inputs if isinstance(inputs, list) else [inputs], outputs, name=f"{op}_{outputs[0]}", **attributes)


def graph(name, nodes, inputs, outputs, weights=()):
    return h.make_graph(nodes, name, inputs, outputs, list(weights))


def save(name, made, runs, outputs, opset=17, bounds={}):
    """`runs`: dictionaries of inputs. `bounds`: shapes of the outputs that depend on data."""
    inputs = [info(k, ELEMENT[np.asarray(v).dtype], np.asarray(v).shape) for k, v in runs[0].items()]
    made.input.extend(inputs)
    model = h.make_model(made, opset_imports=[h.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(model)
    path = os.path.join(FOLDER, name + ".onnx")
    onnx.save(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    with open(os.path.join(FOLDER, name + ".bin"), "wb") as out:
        for run in runs:
            for value in run.values():
                out.write(np.ascontiguousarray(value).tobytes())
            for o, value in zip(outputs, session.run(outputs, run)):
                if o in bounds:
                    full = np.zeros(bounds[o], value.dtype)
                    full[: len(value)] = value
                    value = full
                out.write(np.ascontiguousarray(value).tobytes())


def voiceDetector():
    """As detectors of speech are: one network for each rate of samples, with a state that the caller carries."""

    def network(rate, kernel, channels):
        # Both call their values alike.
        nodes = [
            node("Unsqueeze", ["samples", "one"], "image"),
            node("Conv", ["image", "filters", "bias"], "bands", kernel_shape=[kernel], strides=[4], pads=[kernel // 2, kernel // 2]),
            node("Relu", "bands", "positive"),
            node("ReduceMean", "positive", "energy", axes=[2], keepdims=0),
            node("Unsqueeze", ["energy", "zero"], "sequence"),
            node("LSTM", ["sequence", "w", "r", "b", "", "h", "c"], ["hs", "hn_", "cn_"], hidden_size=8),
            node("Squeeze", ["hn_", "zero"], "last"),
            node("Gemm", ["last", "head"], "logit", transB=1),
            node("Sigmoid", "logit", "p_"),
        ]
        weights = [weight("filters", [channels, 1, kernel]), weight("bias", [channels]), weight("w", [1, 32, channels]),
                   weight("r", [1, 32, 8]), weight("b", [1, 64]), weight("head", [1, 8]), const("one", [1]), const("zero", [0])]
        return graph(f"at_{rate}", nodes, [], [info("p_"), info("hn_"), info("cn_")], weights)

    def silence():
        nodes = [node("Constant", [], "p_", value=const("v", [[0.0]], F32)), node("Identity", "h", "hn_"), node("Identity", "c", "cn_")]
        return graph("silence", nodes, [], [info("p_"), info("hn_"), info("cn_")])

    other = graph("other", [node("Constant", [], "k8", value=const("v", 8000)), node("Equal", ["sr", "k8"], "is8"),
                            node("If", "is8", ["p2", "h2", "c2"], then_branch=network(8000, 3, 6), else_branch=silence())],
                  [], [info("p2"), info("h2"), info("c2")])
    nodes = [node("Constant", [], "k16", value=const("v", 16000)), node("Equal", ["sr", "k16"], "is16"),
             node("If", "is16", ["p", "hn", "cn"], then_branch=network(16000, 7, 10), else_branch=other)]
    made = graph("voice_detector", nodes, [], [info("p", T.FLOAT, [1, 1]), info("hn", T.FLOAT, [1, 1, 8]), info("cn", T.FLOAT, [1, 1, 8])])
    runs = [{"samples": random.uniform(-1, 1, [1, 64]).astype(F32), "sr": np.array(rate, I64),
             "h": random.uniform(-1, 1, [1, 1, 8]).astype(F32), "c": random.uniform(-1, 1, [1, 1, 8]).astype(F32)}
            for rate in (16000, 8000, 44100, 16000)]
    save("voice_detector", made, runs, ["p", "hn", "cn"])


def decoder(stacked):
    """Greedy decoding: each step's token goes into the next, until the end token or twelve steps."""
    vocabulary, width, steps = 11, 16, 12
    weights = [weight("embedding", [vocabulary, width], 1.5), weight("w", [1, 3 * width, width], 1), weight("r", [1, 3 * width, width], 1),
               weight("vocabulary", [width, vocabulary], 2), const("most", steps), const("yes", True, bool), const("first", [1]),
               const("end", [5]), const("zero", [0]), const("blank", [-1] * steps), const("places", list(range(steps)))]
    body = [
        node("Gather", ["embedding", "token"], "embedded"),  # [1, width]
        node("Unsqueeze", ["embedded", "zero"], "sequence"),
        node("GRU", ["sequence", "w", "r", "", "", "state"], ["", "state_"], hidden_size=width),
        node("Squeeze", ["state_", "zero"], "query"),
        node("Transpose", "memory", "keys", perm=[1, 0]),
        node("MatMul", ["query", "keys"], "scores"),
        node("Softmax", "scores", "attention", axis=-1),
        node("MatMul", ["attention", "memory"], "context"),
        node("Add", ["query", "context"], "mixed"),
        node("MatMul", ["mixed", "vocabulary"], "logits"),
        node("ArgMax", "logits", "token_", axis=1, keepdims=0),
        node("Equal", ["token_", "end"], "ended"),
        node("Not", "ended", "goes"),
        node("Squeeze", ["goes", "zero"], "goes_"),
    ]
    carried_in = [info("token", T.INT64, [1]), info("state", T.FLOAT, [1, 1, width])]
    carried_out = [info("token_", T.INT64, [1]), info("state_", T.FLOAT, [1, 1, width])]
    memory = [{"memory": random.uniform(-2, 2, [5, width]).astype(F32), "start": random.uniform(-1, 1, [1, 1, width]).astype(F32)} for _ in range(6)]
    if stacked:
        body.append(node("Identity", "logits", "row"))
        body.append(node("Identity", "token_", "token_row"))
        loop_body = graph("step", body, [info("i", T.INT64, []), info("goes_on", T.BOOL, [])] + carried_in,
                          [info("goes_", T.BOOL, [])] + carried_out + [info("token_row", T.INT64, [1]), info("row", T.FLOAT, [1, vocabulary])])
        made = graph("decoder_rows", [node("Loop", ["most", "yes", "first", "start"], ["last", "state_end", "tokens", "rows"], body=loop_body)],
                     [], [info("last", T.INT64, [1]), info("tokens", T.INT64, ["n", 1]), info("rows", T.FLOAT, ["n", 1, vocabulary])], weights)
        save("decoder_rows", made, memory, ["last", "tokens", "rows"], bounds={"tokens": [steps, 1], "rows": [steps, 1, vocabulary]})
        return
    body += [node("Equal", ["places", "i"], "here"), node("Where", ["here", "token_", "text"], "text_")]
    loop_body = graph("step", body, [info("i", T.INT64, []), info("goes_on", T.BOOL, [])] + carried_in + [info("text", T.INT64, [steps])],
                      [info("goes_", T.BOOL, [])] + carried_out + [info("text_", T.INT64, [steps])])
    made = graph("decoder", [node("Loop", ["most", "yes", "first", "start", "blank"], ["last", "state_end", "written"], body=loop_body)],
                 [], [info("last", T.INT64, [1]), info("state_end", T.FLOAT, [1, 1, width]), info("written", T.INT64, [steps])], weights)
    save("decoder", made, memory, ["last", "state_end", "written"])


def countedLoop():
    """Fibonacci's numbers: what is carried trades places. The count is an input."""
    body = graph("step", [node("Add", ["a", "b"], "sum"), node("Mul", ["x", "factor"], "x_"), node("Identity", "goes_on", "still"),
                          node("Identity", "b", "a_")],
                 [info("i", T.INT64, []), info("goes_on", T.BOOL, []), info("a", T.FLOAT, [4]), info("b", T.FLOAT, [4]), info("x", T.FLOAT, [2, 3])],
                 [info("still", T.BOOL, []), info("a_", T.FLOAT, [4]), info("sum", T.FLOAT, [4]), info("x_", T.FLOAT, [2, 3])])
    nodes = [node("Relu", "scale", "factor"), node("Loop", ["count", "go", "a0", "b0", "x0"], ["a1", "b1", "x1"], body=body),
             node("Add", ["a1", "b1"], "total")]
    made = graph("counted", nodes, [], [info("total", T.FLOAT, [4]), info("x1", T.FLOAT, [2, 3])])
    values = {"a0": np.arange(4, dtype=F32), "b0": np.ones(4, F32), "x0": random.uniform(-1, 1, [2, 3]).astype(F32), "scale": np.array([[0.5, 2, 1.25]], F32)}
    save("counted", made, [{"count": np.array(c, I64), "go": np.array(g, bool)} | values for c, g in ((7, True), (0, True), (-4, True), (5, False), (1, True))],
         ["total", "x1"])


def tradingPlaces(name, n):
    """Three values that rotate, one that stays, rows of two of them. The count is a constant."""
    body = graph("step", [node("Identity", "b", "a_"), node("Identity", "c", "b_"), node("Identity", "a", "c_"), node("Identity", "goes_on", "still"),
                          node("Identity", "kept", "kept_"), node("Sub", ["a", "kept"], "row1"), node("Cast", "i", "row2", to=T.FLOAT)],
                 [info("i", T.INT64, []), info("goes_on", T.BOOL, [])] + [info(v, T.FLOAT, [n]) for v in ("a", "b", "c", "kept")],
                 [info("still", T.BOOL, [])] + [info(v, T.FLOAT, [n]) for v in ("a_", "b_", "c_", "kept_", "row1")] + [info("row2", T.FLOAT, [])])
    made = graph("trading", [node("Loop", ["four", "", "a0", "b0", "c0", "a0"], ["a1", "b1", "c1", "k1", "rows1", "rows2"], body=body)], [],
                 [info(v, T.FLOAT, [n]) for v in ("a1", "b1", "c1", "k1")] + [info("rows1", T.FLOAT, [4, n]), info("rows2", T.FLOAT, [4])], [const("four", 4)])
    save(name, made, [{v: random.uniform(-1, 1, n).astype(F32) for v in ("a0", "b0", "c0")}], ["a1", "b1", "c1", "k1", "rows1", "rows2"])


def untilSmall():
    """No count; the condition is computed before the loop and in it."""
    body = graph("step", [node("Mul", ["x", "half"], "x_"), node("ReduceMax", "x_", "largest", keepdims=0), node("Greater", ["largest", "limit"], "goes"),
                          node("Add", ["n", "one"], "n_")],
                 [info("i", T.INT64, []), info("goes_on", T.BOOL, []), info("x", T.FLOAT, [3, 5]), info("n", T.INT64, [])],
                 [info("goes", T.BOOL, []), info("x_", T.FLOAT, [3, 5]), info("n_", T.INT64, [])])
    nodes = [node("ReduceMax", "x0", "largest0", keepdims=0), node("Greater", ["largest0", "limit"], "goes0"),
             node("Loop", ["", "goes0", "x0", "zero"], ["x1", "n1"], body=body)]
    made = graph("until_small", nodes, [], [info("x1", T.FLOAT, [3, 5]), info("n1", T.INT64, [])], [const("half", 0.5, F32), const("one", 1), const("zero", 0)])
    save("until_small", made, [{"x0": random.uniform(1, 9, [3, 5]).astype(F32), "limit": np.array(l, F32)} for l in (0.1, 3, 100)], ["x1", "n1"])


def nested():
    """A loop in a branch in a loop, which read values of all around."""
    inner = graph("inner", [node("Add", ["v", "step"], "v2"), node("Mul", ["v2", "outside"], "v_"), node("Identity", "goes_on2", "still2")],
                  [info("j", T.INT64, []), info("goes_on2", T.BOOL, []), info("v", T.FLOAT, [6])], [info("still2", T.BOOL, []), info("v_", T.FLOAT, [6])])
    yes = graph("yes", [node("Cast", "i", "step", to=T.FLOAT), node("Loop", ["i", "", "y"], ["r"], body=inner)], [], [info("r", T.FLOAT, [6])])
    no = graph("no", [node("Neg", "y", "r")], [], [info("r", T.FLOAT, [6])])
    outer = graph("outer", [node("Mod", ["i", "two"], "rest"), node("Equal", ["rest", "parity"], "even"), node("Identity", "goes_on", "still"),
                            node("If", "even", ["y_"], then_branch=yes, else_branch=no), node("ReduceSum", "y_", "row", keepdims=1)],
                  [info("i", T.INT64, []), info("goes_on", T.BOOL, []), info("y", T.FLOAT, [6])],
                  [info("still", T.BOOL, []), info("y_", T.FLOAT, [6]), info("row", T.FLOAT, [1])])
    nodes = [node("Sigmoid", "x", "outside"), node("Loop", ["five", "", "x"], ["y1", "rows"], body=outer)]
    made = graph("nested", nodes, [], [info("y1", T.FLOAT, [6]), info("rows", T.FLOAT, [5, 1])], [const("five", 5), const("two", 2)])
    save("nested", made, [{"x": random.uniform(-1, 1, 6).astype(F32), "parity": np.array(p, I64)} for p in (0, 1, 7)], ["y1", "rows"])


def branches():
    """Branches that give what they are given, constants, and one value twice; inside of them a name that is also elsewhere."""
    yes = graph("yes", [node("Abs", "x", "same")], [], [info("x2"), info("same"), info("same2")])
    yes.node.extend([node("Identity", "x", "x2"), node("Identity", "same", "same2")])
    no = graph("no", [node("Add", ["x", "inner_constant"], "same"), node("Identity", "inner_constant", "x2"), node("Exp", "same", "same2")],
               [], [info("x2"), info("same"), info("same2")], [const("inner_constant", [[1, 2, 3], [4, 5, 6]], F32)])
    nodes = [node("If", "flag", ["a", "b", "c"], then_branch=yes, else_branch=no), node("Not", "flag", "other"), node("Mul", ["b", "c"], "d"),
             node("If", "other", ["e"], then_branch=graph("p", [node("Transpose", "d", "same")], [], [info("same")]),
                  else_branch=graph("q", [node("Transpose", "x", "t"), node("Neg", "t", "same")], [], [info("same")]))]
    shape = [2, 3]
    made = graph("branches", nodes, [], [info("a", T.FLOAT, shape), info("b", T.FLOAT, shape), info("c", T.FLOAT, shape), info("e", T.FLOAT, [3, 2])])
    save("branches", made, [{"x": random.uniform(-1, 1, shape).astype(F32), "flag": np.array([f], bool)} for f in (True, False)], ["a", "b", "c", "e"])


def scans():
    """Sums of what came before, and a recurrent layer along the second axis, forwards and backwards."""
    sums = graph("sums", [node("Add", ["s", "v"], "s_"), node("Identity", "s_", "row")], [info("s", T.FLOAT, [3]), info("v", T.FLOAT, [3])],
                 [info("s_", T.FLOAT, [3]), info("row", T.FLOAT, [3])])

    def layer(name):
        return graph(name, [node("MatMul", ["v", "wx"], "p"), node("MatMul", ["hidden", "wh"], "q"), node("Add", ["p", "q"], "r"), node("Tanh", "r", "hidden_"),
                            node("Mul", ["hidden_", "u"], "row"), node("Identity", "row", "row2")],
                     [info("hidden", T.FLOAT, [2, 6]), info("v", T.FLOAT, [2, 4]), info("u", T.FLOAT, [2, 1])],
                     [info("hidden_", T.FLOAT, [2, 6]), info("row", T.FLOAT, [2, 6]), info("row2", T.FLOAT, [2, 6])])

    nodes = [node("Scan", ["s0", "m"], ["s1", "running"], body=sums, num_scan_inputs=1),
             node("Scan", ["s0", "m"], ["s2", "backwards"], body=sums, num_scan_inputs=1, scan_input_directions=[1], scan_output_directions=[1]),
             node("Scan", ["h0", "x", "y"], ["h1", "rows", "rows2"], body=layer("forward"), num_scan_inputs=2, scan_input_axes=[1, -1],
                  scan_input_directions=[0, 1], scan_output_axes=[1, 2], scan_output_directions=[0, 1])]
    made = graph("scans", nodes, [], [info("s1", T.FLOAT, [3]), info("running", T.FLOAT, [5, 3]), info("s2", T.FLOAT, [3]), info("backwards", T.FLOAT, [5, 3]),
                                      info("h1", T.FLOAT, [2, 6]), info("rows", T.FLOAT, [2, 7, 6]), info("rows2", T.FLOAT, [2, 6, 7])],
                 [weight("wx", [4, 6]), weight("wh", [6, 6])])
    run = {"s0": random.uniform(-1, 1, 3), "m": random.uniform(-1, 1, [5, 3]), "h0": random.uniform(-1, 1, [2, 6]),
           "x": random.uniform(-1, 1, [2, 7, 4]), "y": random.uniform(-1, 1, [2, 1, 7])}
    save("scans", made, [{k: v.astype(F32) for k, v in run.items()}], ["s1", "running", "s2", "backwards", "h1", "rows", "rows2"])


def convolutions():
    """Images that a loop carries, in whatever layout its kernels like, with a branch around one of the kernels."""
    yes = graph("yes", [node("Conv", ["image", "w1"], "i1", pads=[1, 1, 1, 1]), node("Relu", "i1", "i2")], [], [info("i2", T.FLOAT, [1, 8, 6, 6])])
    no = graph("no", [node("Conv", ["image", "w2"], "i2")], [], [info("i2", T.FLOAT, [1, 8, 6, 6])])
    body = graph("step", [node("Greater", ["limit", "i"], "early"), node("If", "early", ["i3"], then_branch=yes, else_branch=no),
                          node("Conv", ["i3", "w3"], "i4", pads=[1, 1, 1, 1]), node("Add", ["i4", "image"], "i5"), node("Add", ["i5", "bias"], "image_"),
                          node("GlobalAveragePool", "image_", "row"), node("Identity", "goes_on", "still")],
                 [info("i", T.INT64, []), info("goes_on", T.BOOL, []), info("image", T.FLOAT, [1, 8, 6, 6])],
                 [info("still", T.BOOL, []), info("image_", T.FLOAT, [1, 8, 6, 6]), info("row", T.FLOAT, [1, 8, 1, 1])])
    nodes = [node("Conv", ["x", "w0"], "bias", pads=[1, 1, 1, 1]), node("Loop", ["three", "", "bias"], ["last", "rows"], body=body), node("Conv", ["last", "w2"], "y")]
    weights = [weight("w0", [8, 3, 3, 3]), weight("w1", [8, 8, 3, 3], 0.2), weight("w2", [8, 8, 1, 1]), weight("w3", [8, 8, 3, 3], 0.2), const("three", 3)]
    made = graph("convolutions", nodes, [], [info("y", T.FLOAT, [1, 8, 6, 6]), info("rows", T.FLOAT, [3, 1, 8, 1, 1])], weights)
    x = random.uniform(-1, 1, [1, 3, 6, 6]).astype(F32)
    save("convolutions", made, [{"x": x, "limit": np.array(l, I64)} for l in (2, 0, 9)], ["y", "rows"])


voiceDetector()
decoder(stacked=False)
decoder(stacked=True)
countedLoop()
tradingPlaces("trading", 3)
untilSmall()
nested()
branches()
scans()
convolutions()
tradingPlaces("trading_large", 300)  # large enough to be swapped in place of copies
