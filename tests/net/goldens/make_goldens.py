#!/usr/bin/env python3
"""Writes goldens of ONNX Runtime for tst_every_onnx_operator: a file for each ONNX operator, OPERATOR.cases.

    pip install onnx==1.19.1 onnxruntime==1.32.0 ml_dtypes
    unzip onnx-*.whl 'onnx/backend/test/data/node/*'
    tests/net/goldens/make_goldens.py onnx/backend/test/data/node [OPERATOR...]

The cases are those of the ONNX standard with one node, and rows of this script for shapes that are no multiples of a
vector. Each is taken in every element type that the operator's schema allows, with two sets of values: plain ones, and
difficult ones (NaN, infinities, zeros of both signs, subnormals, ends of integers). Inputs that describe (shapes, axes,
numbers of things) become constants with the standard's own values; indices keep these too. What ONNX Runtime does not
run in a type comes without results: then the test compares kernels with the evaluator alone.

A file is a row of models, each behind its length (four bytes, little endian). Initializers of the name "golden:SET:NAME"
are values of inputs and outputs.
"""
import argparse, multiprocessing, pathlib, struct, sys, zlib
import ml_dtypes, numpy as np, onnx
from onnx import TensorProto, helper, numpy_helper

MOST_ELEMENTS = 520  # of a tensor
CONFIGURATIONS = {"float32": 5}  # of an operator, in each type; of others:
OTHER_CONFIGURATIONS = 2
OPSET = 22

TYPES = {
    "bool": (TensorProto.BOOL, np.bool_), "int8": (TensorProto.INT8, np.int8), "uint8": (TensorProto.UINT8, np.uint8),
    "int16": (TensorProto.INT16, np.int16), "uint16": (TensorProto.UINT16, np.uint16), "int32": (TensorProto.INT32, np.int32),
    "uint32": (TensorProto.UINT32, np.uint32), "int64": (TensorProto.INT64, np.int64), "uint64": (TensorProto.UINT64, np.uint64),
    "float16": (TensorProto.FLOAT16, np.float16), "bfloat16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
    "float": (TensorProto.FLOAT, np.float32), "double": (TensorProto.DOUBLE, np.float64)}
BY_NUMBER = {number: name for name, (number, _) in TYPES.items()}

# Random, of sequences and of strings, for training, or with results that the standard leaves open.
LEFT_OUT = {"Bernoulli", "Dropout", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial",
            "If", "Loop", "Scan", "Optional", "OptionalGetElement", "OptionalHasElement", "ImageDecoder", "StringConcat",
            "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer", "Constant", "Adam", "Adagrad", "Momentum", "Gradient"}
# Their floats must stay what they are: windows and factors of the standard's cases.
DESCRIBED = {"Resize": [1, 2, 3], "Upsample": [1], "Pad": [2], "Range": [0, 1, 2], "RoiAlign": [1], "MaxRoiPool": [1],
             "MelWeightMatrix": [0, 1, 2, 3, 4], "QuantizeLinear": [1, 2], "DequantizeLinear": [1, 2], "QLinearConv": [1, 2, 4, 5, 6, 7],
             "QLinearMatMul": [1, 2, 4, 5, 6, 7], "MatMulInteger": [2, 3], "ConvInteger": [2, 3], "OneHot": [2],
             "NonMaxSuppression": [0, 1, 2, 3, 4], "Clip": [1, 2], "Tile": [1], "Expand": [1], "Scatter": [], "TopK": [1],
             "NegativeLogLikelihoodLoss": [1], "SoftmaxCrossEntropyLoss": [1], "Compress": [1], "Trilu": [1], "CumSum": [1],
             "MaxUnpool": [1, 2], "AffineGrid": [1], "HannWindow": [0], "HammingWindow": [0], "BlackmanWindow": [0],
             "DFT": [1, 2], "STFT": [1, 3], "Col2Im": [1, 2], "CenterCropPad": [1], "BitShift": [1], "TensorScatter": [2],
             "ReverseSequence": [1], "GridSample": [1], "Split": [1], "LSTM": [4], "GRU": [4], "RNN": [4], "RotaryEmbedding": [3],
             "Attention": [3, 6]}
# Inputs that Lathe takes at import alone: sizes, axes, scales.
CONSTANT = {"BlackmanWindow": [0], "CenterCropPad": [1], "ConstantOfShape": [0], "CumSum": [1], "HammingWindow": [0], "HannWindow": [0],
            "MelWeightMatrix": [0, 1, 2, 3, 4], "OneHot": [1], "Range": [0, 1, 2], "Resize": [1, 2, 3], "STFT": [1, 3], "Upsample": [1]}
# What sums: values of one size, that neither overflow nor cancel wholly.
SUMS = ("Conv", "Gemm", "MatMul", "Reduce", "Pool", "Norm", "Softmax", "LSTM", "GRU", "RNN", "Einsum", "Loss", "CumSum", "Sum",
        "Mean", "Attention", "DFT", "STFT", "Lp", "Det", "Resize", "Upsample", "GridSample", "RoiAlign", "Col2Im", "Rotary",
        "DeformConv", "Scatter", "AffineGrid", "MVN", "MeanVariance", "LRN")
POSITIVE = {"BatchNormalization": [4]}
# Weights: finite, since code may multiply them by the zeros of padding, or divide by them ahead of time.
FINITE = {"Conv": [1, 2], "ConvTranspose": [1, 2], "DeformConv": [1, 2, 3, 4], "PRelu": [1], "BatchNormalization": [1, 2, 3]}


def numbers(op, position, dtype, count, difficult, random):
    """Values of an input."""
    if dtype == np.bool_:
        return random.integers(0, 2, count).astype(np.bool_)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        if op in ("Div", "Mod") and position == 1:
            return random.choice(np.array([1, 2, 3, 5, 7] + ([-2, -3] if info.min < 0 else [])), count).astype(dtype)
        if op == "Pow":
            return random.integers(0, 4, count).astype(dtype) if position else random.integers(0 if info.min == 0 else -5, 6, count).astype(dtype)
        small = random.integers(0 if info.min == 0 else -9, 10, count)
        if not difficult:
            return small.astype(dtype)
        ends = np.array([info.min, info.max, info.min + 1, info.max - 1, 0, 1], dtype=object)
        values = np.array([small[i] if random.random() < 0.4 else ends[random.integers(len(ends))] for i in range(count)], dtype=object)
        return values.astype(dtype)
    plain = np.where(random.random(count) < 0.3, random.integers(-8, 9, count) / 2, random.uniform(-3, 3, count))
    if position in POSITIVE.get(op, []):
        plain = np.abs(plain) + 0.25
    elif difficult:
        moderate = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 100, -0.001]
        others = [2.0] if position in FINITE.get(op, []) else [np.nan, np.inf, -np.inf]
        if not any(word in op for word in SUMS) and position not in FINITE.get(op, []):
            others += [np.nan, np.inf, -np.inf, 1e-40, -1e-45, 3e38, -3e38, 1e4, -7e4, 89, -89, 20, -20, 1e-4, 1e20]
        draw = random.random(count)
        plain = np.where(draw < 0.4, plain, np.where(draw < 0.7, random.choice(moderate, count), random.choice(others, count)))
    with np.errstate(all="ignore"):
        return plain.astype(dtype)


class Case:
    def __init__(self, op, name, node, opset, inputs, outputs):
        """inputs: (name, array, constant)"""
        self.op, self.name, self.node, self.opset, self.inputs, self.outputs = op, name, node, opset, inputs, outputs


def schema_of(op, opset):
    return onnx.defs.get_schema(op, opset, "")


def standard_cases(folder):
    for path in sorted(folder.iterdir()):
        if "_expanded" in path.name or not (path / "test_data_set_0").is_dir():
            continue
        model = onnx.load(path / "model.onnx")
        graph = model.graph
        if len(graph.node) != 1 or graph.node[0].domain or graph.node[0].op_type in LEFT_OUT or graph.initializer:
            continue
        if any(i.domain not in ("", "ai.onnx") for i in model.opset_import):
            continue
        node = graph.node[0]
        if any(a.name == "training_mode" and a.i for a in node.attribute) or any(a.g.node for a in node.attribute):
            continue
        if not all(i.type.HasField("tensor_type") and i.type.tensor_type.elem_type in BY_NUMBER for i in list(graph.input) + list(graph.output)):
            continue
        arrays = []
        for i, info in enumerate(graph.input):
            tensor = TensorProto()
            tensor.ParseFromString((path / "test_data_set_0" / f"input_{i}.pb").read_bytes())
            arrays.append((info.name, tensor))
        if any(int(np.prod(t.dims)) > MOST_ELEMENTS for _, t in arrays):
            continue
        opset = model.opset_import[0].version
        yield Case(node.op_type, path.name.removeprefix("test_"), node, opset,
                   [(name, numpy_helper.to_array(t), None) for name, t in arrays], [o.name for o in graph.output])


def rows():
    """Shapes that are no multiples of a vector."""
    shapes = [(33,), (), (2, 15), (1,), (3, 31), (0,), (2, 0, 3), (17,)]
    unary = ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity IsInf IsNaN "
             "LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh "
             "ThresholdedRelu BitwiseNot Shrink Swish").split()
    binary = "Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Or PRelu Pow Sub Xor".split()
    for op in unary + binary:
        try:
            schema = schema_of(op, OPSET)
        except onnx.defs.SchemaError:
            schema = schema_of(op, 24)
        first = schema.inputs[0].type_str
        allowed = next((c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == first), [first])
        dtype = np.float32 if "tensor(float)" in allowed else np.bool_ if "tensor(bool)" in allowed else np.int32
        for shape in shapes:
            arrays = [("a", np.zeros(shape, dtype), None)]
            if op in binary:
                arrays.append(("b", np.zeros(shape, dtype), None))
            attributes = {"fmod": 1} if op == "Mod" and dtype == np.float32 else {}
            node = helper.make_node(op, [a[0] for a in arrays], ["y"], **attributes)
            yield Case(op, "of " + "x".join(map(str, shape)), node, max(OPSET, schema.since_version), arrays, ["y"])
    for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare".split():
        for shape, axes, keep in [((33,), [0], 0), ((3, 17), [1], 1), ((15, 31), [0], 0), ((), [], 1)]:
            arrays = [("a", np.zeros(shape, np.float32), None), ("axes", np.array(axes, np.int64), True)]
            node = helper.make_node(op, ["a", "axes"], ["y"], keepdims=keep)
            yield Case(op, "of " + "x".join(map(str, shape)), node, OPSET, arrays, ["y"])
    for op in ("Softmax", "LogSoftmax", "ArgMax", "ArgMin", "Hardmax"):
        for shape, axis in [((33,), 0), ((3, 17), 1), ((15, 31), 0)]:
            node = helper.make_node(op, ["a"], ["y"], axis=axis)
            yield Case(op, "of " + "x".join(map(str, shape)), node, OPSET, [("a", np.zeros(shape, np.float32), None)], ["y"])
    for m, k, n in [(3, 17, 33), (1, 31, 15), (33, 1, 2)]:
        node = helper.make_node("MatMul", ["a", "b"], ["y"])
        yield Case("MatMul", f"of {m}x{k}x{n}", node, OPSET,
                   [("a", np.zeros((m, k), np.float32), None), ("b", np.zeros((k, n), np.float32), None)], ["y"])


def in_types(case):
    """(type's name, dtype of each input) for each type that the schema allows for the operator's main type variable."""
    schema = schema_of(case.op, case.opset)
    slots = []
    for i in range(len(case.node.input)):
        slots.append(schema.inputs[min(i, len(schema.inputs) - 1)].type_str)
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    present = [i for i, name in enumerate(case.node.input) if name]
    if not present:
        yield "float32", {}
        return
    main = slots[present[0]]
    if case.op == "Where":
        main = slots[1]
    allowed = constraints.get(main, [main])
    for name, (_, dtype) in TYPES.items():
        if f"tensor({name})" not in allowed:
            continue
        kinds = {}
        for k, i in enumerate(present):
            kinds[k] = np.dtype(dtype) if slots[i] == main else case.inputs[k][1].dtype
        shown = {"float": "float32", "double": "float64"}.get(name, name)
        yield shown, kinds


def is_constant(case, k, i, schema, constraints):
    slot = schema.inputs[min(i, len(schema.inputs) - 1)].type_str
    allowed = constraints.get(slot, [slot])
    return list(allowed) == ["tensor(int64)"] or case.inputs[k][2]


def make(case, type_name, kinds):
    """The model, without results, and the sets of values."""
    schema = schema_of(case.op, case.opset)
    constraints = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    present = [i for i, name in enumerate(case.node.input) if name]
    inputs, initializers, sets = [], [], [{}, {}]
    for k, i in enumerate(present):
        name, array, _ = case.inputs[k]
        dtype = kinds[k]
        number = next(n for n, d in TYPES.values() if np.dtype(d) == dtype)
        slot = schema.inputs[min(i, len(schema.inputs) - 1)].type_str
        integer_slot = all("int" in t for t in constraints.get(slot, [slot]))
        described = i in DESCRIBED.get(case.op, [])
        with np.errstate(all="ignore"):
            kept = array.astype(dtype)
        if (is_constant(case, k, i, schema, constraints) and i > 0) or i in CONSTANT.get(case.op, []):
            initializers.append(tensor_of(name, kept))
            continue
        inputs.append(helper.make_tensor_value_info(name, number, list(array.shape)))
        for s, values in enumerate(sets):
            random = np.random.default_rng(zlib.crc32(f"{case.op} {case.name} {type_name} {name} {s}".encode()))
            keeps = described or (integer_slot and i > 0)
            values[name] = kept if keeps else numbers(case.op, i, dtype, array.size, s == 1, random).reshape(array.shape)
    node = onnx.NodeProto()
    node.CopyFrom(case.node)
    outputs = [onnx.ValueInfoProto(name=name) for name in case.outputs]
    graph = helper.make_graph([node], f"{case.op} {case.name}|{type_name}", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=10)
    return model, sets


def tensor_of(name, array):
    if array.dtype == ml_dtypes.bfloat16:
        tensor = TensorProto(data_type=TensorProto.BFLOAT16, dims=array.shape, raw_data=array.tobytes())
    else:
        tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape))
    tensor.name = name
    return tensor


def run(job):
    """In a process of its own: what crashes costs one case."""
    bytes_of_model, sets = job
    import onnxruntime as ort
    ort.set_default_logger_severity(4)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = ort.InferenceSession(bytes_of_model, options, providers=["CPUExecutionProvider"])
        results = []
        for values in sets:
            results.append(session.run(None, values))
        return results
    except Exception as error:
        return str(error)


def typed_outputs(model):
    """ONNX Runtime wants the types of outputs; they are inferred. Returns nothing if they cannot be."""
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    return inferred


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("operators", nargs="*")
    given = parser.parse_args()
    here = pathlib.Path(__file__).parent
    cases = {}
    for source in (rows(), standard_cases(given.folder)):
        for case in source:
            if not given.operators or case.op in given.operators:
                cases.setdefault(case.op, []).append(case)
    total = with_results = 0
    pool = None
    for op in sorted(cases):
        written, taken = [], {}
        for case in cases[op]:
            for type_name, kinds in in_types(case):
                is_row = case.name.startswith("of ")
                key = (type_name, is_row)
                most = 8 if is_row else CONFIGURATIONS.get(type_name, OTHER_CONFIGURATIONS)
                if is_row and type_name != "float32" and taken.get(key, 0) >= 3:
                    continue
                if taken.get(key, 0) >= most:
                    continue
                taken[key] = taken.get(key, 0) + 1
                try:
                    model, sets = make(case, type_name, kinds)
                    model = typed_outputs(model)
                except Exception as error:
                    print(f"{op} {case.name} {type_name}: {str(error).splitlines()[0]}", file=sys.stderr)
                    continue
                if any(v.dtype == ml_dtypes.bfloat16 for s in sets for v in s.values()):
                    results = "no bfloat16 in numpy"
                else:
                    if pool is None:
                        pool = multiprocessing.get_context("fork").Pool(1)
                    try:
                        results = pool.apply_async(run, ((model.SerializeToString(), sets),)).get(timeout=20)
                    except multiprocessing.TimeoutError:
                        pool.terminate()
                        pool, results = None, "crashed"
                total += 1
                # Values of shapes alone need not be told.
                for s, values in enumerate(sets):
                    for name, array in values.items():
                        model.graph.initializer.append(tensor_of(f"golden:{s}:{name}", array))
                    if not isinstance(results, str):
                        for name, array in zip(case.outputs, results[s]):
                            model.graph.initializer.append(tensor_of(f"golden:{s}:{name}", np.asarray(array)))
                with_results += not isinstance(results, str)
                written.append(model.SerializeToString())
        if not written:
            print(f"{op}: no case can be made", file=sys.stderr)
            continue
        with open(here / f"{op}.cases", "wb") as out:
            for model in written:
                out.write(struct.pack("<I", len(model)) + model)
    print(f"{total} cases, {with_results} with results of ONNX Runtime, {len(cases)} operators")


if __name__ == "__main__":
    main()
