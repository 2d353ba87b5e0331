"""Called by tests/bench/layers (see there)."""

import argparse
import json
import os
import statistics
import subprocess
import sys

# Layers as Lathe names their tasks; per cent of peak that a study with hand-made kernels reached on another CPU (direct sums);
# None: none was listed. A suffix "winograd" in the result tells the algorithm that won.
CONVOLUTIONS = [
    # kernel, stride, in, out, size of the output, listed
    (3, 1, 64, 64, 56, 93), (3, 1, 128, 128, 28, 93), (3, 1, 256, 256, 14, 95), (3, 1, 512, 512, 7, 105),
    (3, 2, 64, 128, 28, 90), (3, 2, 128, 256, 14, 83), (3, 2, 256, 512, 7, 95), (3, 2, 128, 128, 28, 88), (3, 2, 256, 256, 14, 88),
    (3, 2, 512, 512, 7, 95), (7, 2, 3, 64, 112, 90), (3, 2, 3, 32, 112, 70), (3, 1, 3, 64, 224, 82), (3, 1, 64, 64, 224, 90),
    (3, 1, 128, 128, 112, 90), (3, 1, 256, 256, 56, 90), (3, 1, 512, 512, 28, 90), (3, 1, 512, 512, 14, 87),
    (1, 1, 64, 64, 56, 87), (1, 1, 64, 256, 56, 87), (1, 1, 256, 64, 56, 88), (1, 1, 256, 128, 56, 88), (1, 1, 512, 128, 28, 86),
    (1, 1, 128, 512, 28, 86), (1, 1, 512, 256, 28, 83), (1, 1, 1024, 256, 14, 86), (1, 1, 256, 1024, 14, 86), (1, 1, 1024, 512, 14, 84),
    (1, 1, 2048, 512, 7, 87), (1, 1, 512, 2048, 7, 87), (1, 2, 64, 128, 28, 80), (1, 2, 128, 256, 14, 78), (1, 2, 256, 512, 7, 84),
    (1, 2, 256, 512, 28, 80), (1, 2, 512, 1024, 14, 81), (1, 2, 1024, 2048, 7, 83), (1, 1, 32, 16, 112, 72), (1, 1, 16, 96, 112, 74),
    (1, 1, 32, 192, 28, 80), (1, 1, 192, 32, 28, 86), (1, 1, 64, 384, 14, 78), (1, 1, 384, 64, 14, 80), (1, 1, 384, 96, 14, 78),
    (1, 1, 96, 576, 14, 80), (1, 1, 576, 96, 14, 80), (1, 1, 160, 960, 7, 87), (1, 1, 960, 160, 7, 74), (1, 1, 960, 320, 7, 88),
    (1, 1, 320, 1280, 7, 87),
]
DENSE = [(197, 768, 2304, 82), (197, 768, 768, 81), (197, 768, 3072, 80), (197, 3072, 768, 84)]
POINTS = 2  # that a layer may stay below the listed percentage


def model(path):
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(0)
    nodes, inputs, outputs, weights = [], [], [], []

    def layer(i, kind, data, result, weight, **attributes):
        inputs.append(helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, data))
        outputs.append(helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, result))
        values = (random.standard_normal(weight, dtype=np.float32) * 0.05).astype(np.float32)
        weights.append(numpy_helper.from_array(values, f"w{i}"))
        nodes.append(helper.make_node(kind, [f"x{i}", f"w{i}"], [f"y{i}"], **attributes))

    for i, (kernel, stride, fan_in, fan_out, size, _) in enumerate(CONVOLUTIONS):
        layer(i, "Conv", [1, fan_in, size * stride, size * stride], [1, fan_out, size, size], [fan_out, fan_in, kernel, kernel],
              pads=[kernel // 2] * 4, strides=[stride, stride])
    for i, (rows, fan_in, fan_out, _) in enumerate(DENSE, len(CONVOLUTIONS)):
        layer(i, "MatMul", [rows, fan_in], [rows, fan_out], [fan_in, fan_out])
    graph = helper.make_graph(nodes, "layers", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    made.ir_version = 9
    onnx.save(made, path)


def listed():
    """(per cent of peak, operations of the direct sum) by the name of the task."""
    named = {}
    for kernel, stride, fan_in, fan_out, size, percent in CONVOLUTIONS:
        step = f"/{stride}" if stride > 1 else ""
        named[f"conv2d {kernel}x{kernel}{step} {fan_in}->{fan_out} @{size}"] = (percent, 2 * kernel * kernel * fan_in * fan_out * size * size)
    for rows, fan_in, fan_out, percent in DENSE:
        named[f"dense {fan_in}->{fan_out} batch {rows}"] = (percent, 2 * rows * fan_in * fan_out)
    return named


SGEMM = """
import time, numpy as np
r = np.random.default_rng(0)
a, b = (r.standard_normal((2048, 2048), dtype=np.float32) for _ in range(2))
c = a @ b
best = 1e9
for _ in range(5):
    start = time.perf_counter()
    np.matmul(a, b, out=c)
    best = min(best, time.perf_counter() - start)
print(2 * 2048**3 / best * 1e-9)
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", nargs="?", choices=["both", "tune", "time"], default="both")
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seconds", type=int, default=480)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--resume", action="store_true", help="tune the kept project further instead of from nothing")
    arguments = parser.parse_args()
    cli = os.path.join(arguments.bin, "lathe-cli")
    onnx_file = os.path.join(arguments.work, "layers.onnx")
    project = os.path.join(arguments.work, f"layers-{arguments.threads}.lathe")
    target = f"cpu -threads={arguments.threads}"
    output = lambda *words: subprocess.run([cli, *words], stdout=subprocess.PIPE, text=True, check=True).stdout

    if arguments.step != "time":
        model(onnx_file)
        resume = ["--resume"] if arguments.resume and os.path.exists(project) else []
        for suffix in ("", "-wal", "-shm") if not resume else ():
            if os.path.exists(project + suffix):
                os.remove(project + suffix)
        print(output("tune", onnx_file, "--project", project, "--time", f"{arguments.seconds}s", "--head-start", "none", "--target", target, *resume).splitlines()[-1])
    if arguments.step == "tune":
        return
    plain = lambda name: name.replace(" +transpose", "")  # the layers of three channels read their input in NCHW
    layers = listed()
    best = {}
    for record in json.loads(output("records", "best", project, "--json")):
        name = plain(record["task"])
        if name in layers and (name not in best or record["cost_ms"] < best[name]["cost_ms"]):
            best[name] = record
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(arguments.threads)}
    rounds, gflops = [], {name: [] for name in best}
    for _ in range(arguments.rounds):
        probe = json.loads(output("roofline", onnx_file, "--target", target, "--project", project, "--json"))["gflops"]
        sgemm = float(subprocess.run([sys.executable, "-c", SGEMM], stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout)
        again = json.loads(output("records", "remeasure", project, "--target", target, "--json", *(r["trial"] for r in best.values())))
        cost = {r["repeats"]: r["cost_ms"] for r in again if r["status"] == "Ok"}
        rounds.append((probe, sgemm))
        for name, record in best.items():
            if record["trial"] in cost:
                gflops[name].append((layers[name][1] / cost[record["trial"]] * 1e-6, max(probe, sgemm)))
    print(f"peak: probe {statistics.median(p for p, _ in rounds):.0f}, sgemm {statistics.median(s for _, s in rounds):.0f} GFLOP/s "
          f"(medians of {arguments.rounds}), {arguments.threads} threads\n")
    print("| layer | algorithm | GFLOP/s | % of peak | % of sgemm | listed | |\n|---|---|---|---|---|---|---|")
    met, missed = 0, 0
    for name, (wanted, _) in layers.items():
        if not gflops.get(name):
            print(f"| {name} | not measured | | | | {wanted} | missed |")
            missed += 1
            continue
        percent = statistics.median(g / peak for g, peak in gflops[name]) * 100
        of_sgemm = statistics.median(g / s for (g, _), (_, s) in zip(gflops[name], rounds)) * 100
        good = percent >= wanted - POINTS
        met, missed = met + good, missed + (not good)
        print(f"| {name} | {best[name]['alternative']} | {statistics.median(g for g, _ in gflops[name]):.0f} | {percent:.0f} | {of_sgemm:.0f} | {wanted} "
              f"| {'' if good else 'missed'} |")
    print(f"\n{met} of {met + missed} at most {POINTS} points below what is listed.")


if __name__ == "__main__":
    main()
