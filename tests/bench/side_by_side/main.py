"""Called by tests/bench/engines and tests/bench/onnxruntime: exports, tunes, checks and times (see there)."""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy's own threads would spin on the cores of the engines
import numpy as np

from beside import Beside
from engines import PEERS, Lathe, aligned
from networks import NETWORKS, input_shape, onnx_file, torch_model

PAUSE = 0.1  # seconds; engines' threads spin for tens of milliseconds after a run


def once(call, least=0.02):
    """Milliseconds per call over at least 20 ms.

    The pause lets the other engines' idle threads go to sleep: else they would take turns with ours on the same cores.
    Two untimed calls wake our own."""
    time.sleep(PAUSE)
    call()
    call()
    count = 0
    start = time.perf_counter()
    while True:
        call()
        count += 1
        passed = time.perf_counter() - start
        if passed >= least:
            return passed / count * 1e3


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.cli = os.path.join(arguments.bin, "lathe-cli")
        self.kind = "untuned" if arguments.untuned else "tuned"

    def path(self, network, ending):
        return os.path.join(self.arguments.work, network + ending)

    def library(self, network):
        return os.path.join(self.arguments.work, f"lib{network}-{self.kind}-{self.arguments.threads}.so")

    def tune(self, network):
        """Tunes into the network's project, from nothing unless --resume; then exports its library."""
        model = onnx_file(network, self.arguments.work)
        project = self.path(network, f"-{self.arguments.threads}.lathe")
        threads = ["--target", f"cpu -threads={self.arguments.threads}"]
        if not self.arguments.untuned:
            resume = ["--resume"] if self.arguments.resume and os.path.exists(project) else []
            for suffix in ("", "-wal", "-shm") if not resume else ():
                if os.path.exists(project + suffix):
                    os.remove(project + suffix)
            out = subprocess.run([self.cli, "tune", model, "--project", project, "--time", f"{self.arguments.seconds}s", "--json",
                                  "--head-start", "none", *threads, *resume], stdout=subprocess.PIPE, text=True, check=True).stdout
            done = [event for event in map(json.loads, out.strip().splitlines()) if event.get("event") == "done"]
            with open(self.path(network, f"-{self.arguments.threads}.done.json"), "w") as file:
                json.dump(done[-1], file)
        extra = [] if self.arguments.untuned else ["--project", project]
        name = f"bench_{network}_{self.kind}_{self.arguments.threads}".replace("-", "_").replace(".", "_")
        subprocess.run([self.cli, "compile", model, "--name", name, "-o", self.library(network), "--allow-default",
                        *threads, *extra], stdout=subprocess.DEVNULL, check=True)

    def time(self, network):
        """All engines in turns on one input. Returns a row of the table."""
        model = onnx_file(network, self.arguments.work)
        x = aligned(input_shape(network))
        x[:] = np.random.default_rng(0).standard_normal(x.shape, dtype=np.float32)
        peers = {}
        for key in self.arguments.peers.split(","):
            peers[key] = PEERS[key](model, lambda: torch_model(network), x, self.arguments.threads)
            peers[key].run()
        first = next(iter(peers.values()))
        expected = np.array(first.output)
        ours = Lathe(self.library(network), x, expected.shape, self.arguments.threads)
        ours.run()
        error = float(np.abs(ours.output - expected).max() / np.abs(expected).max())
        engines = {**peers, "lathe": ours}
        for _ in range(3):
            for engine in engines.values():
                engine.run()
        times = {key: [] for key in engines}
        for _ in range(self.arguments.rounds):
            for key, engine in engines.items():
                times[key].append(once(engine.run))
        row = {"network": network, "error": error, "versions": {k: e.version for k, e in peers.items()},
               "median": {k: statistics.median(v) for k, v in times.items()}, "least": {k: min(v) for k, v in times.items()},
               "estimated": ours.description["benchmark"]["estimated_ms"],
               "measured_at_export": ours.description["benchmark"]["latency_ms"]["median"]}
        done = self.path(network, f"-{self.arguments.threads}.done.json")
        row["trials_per_s"] = json.load(open(done)).get("trials_per_s") if self.kind == "tuned" and os.path.exists(done) else None
        best = min(row["median"][k] for k in peers)
        row["ratio"] = row["median"]["lathe"] / best
        row["least_ratio"] = row["least"]["lathe"] / min(row["least"][k] for k in peers)
        print(f"{network}: " + ", ".join(f"{k} {v:.3f}" for k, v in row["median"].items())
              + f" ms; ratio {row['ratio']:.3f}, max relative error {error:.1e}", flush=True)
        return row


def table(rows, peers, threads, rounds):
    number = lambda v: f"{v:.3f}" if v is not None else "-"
    heads = ["network", *(PEERS[p].title for p in peers), "Lathe", "ratio", "of the least", "error", "trials/s",
             "tasks", "chain", "untuned", "sum", "sum to measured"]
    print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for row in rows:
        e = row["estimated"]
        parts = [e.get("tasks"), e.get("chain"), e.get("untuned"), e.get("with_overheads")]
        measured = row["measured_at_export"]
        print("| " + " | ".join([row["network"], *(number(row["median"][p]) for p in peers), number(row["median"]["lathe"]),
                                 f"{row['ratio']:.2f}", f"{row['least_ratio']:.2f}", f"{row['error']:.0e}",
                                 f"{row['trials_per_s']:.1f}" if row["trials_per_s"] else "-", *map(number, parts), f"{parts[3] / measured:.3f}" if parts[3] and measured else "-"]) + " |")
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    least = math.exp(sum(math.log(row["least_ratio"]) for row in rows) / len(rows))
    versions = ", ".join(f"{PEERS[p].title} {rows[0]['versions'][p]}" for p in peers)
    print(f"\nms, {threads} threads, medians of {rounds} interleaved rounds; {versions}."
          f" Geometric mean of Lathe / best peer: {mean:.3f} (of the smallest times {least:.3f}).")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", nargs="?", choices=["both", "tune", "time", "trials"], default="both")
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--seconds", type=int, default=480)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--untuned", action="store_true", help="default schedules, without tuning")
    parser.add_argument("--resume", action="store_true", help="tune kept projects further instead of from nothing")
    parser.add_argument("--beside", help="time and trials: the folder with another state's programs, instead of the peers")
    arguments = parser.parse_args()
    networks = arguments.networks.split(",")
    for name in networks:
        if name not in NETWORKS:
            sys.exit(f"unknown network {name}; there are {', '.join(NETWORKS)}")
    if arguments.step == "trials" and not arguments.beside:
        sys.exit("trials compares two states: name the folder of the other one's programs with --beside")
    if arguments.beside and arguments.step not in ("time", "trials"):
        sys.exit("--beside goes with time or trials; tune takes --bin")
    if arguments.beside:
        beside = Beside(arguments, once)
        sys.exit(0 if (beside.trials if arguments.step == "trials" else beside.time_all)(networks) else 1)
    bench = Bench(arguments)
    if arguments.step != "time":
        for name in networks:
            bench.tune(name)
    if arguments.step == "tune":
        return
    rows = [bench.time(name) for name in networks]
    table(rows, arguments.peers.split(","), arguments.threads, arguments.rounds)
    sys.exit(0 if all(row["error"] <= 1e-4 for row in rows) else 1)


if __name__ == "__main__":
    main()
