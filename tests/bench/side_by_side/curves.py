"""Called by tests/bench/curves (see there): how good the whole network is after so many minutes, for several tuners."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy's own threads would spin on the cores of the engines
import numpy as np

from curves_plot import svg
from engines import PEERS, Lathe, aligned
from main import once
from networks import NETWORKS, input_shape, onnx_file, torch_model

MINUTES = [0.5, 1, 2, 3, 5, 8]
TUNERS = {"lathe": "Lathe", "random": "Lathe, random", "metaschedule": "MetaSchedule", "head-start": "Lathe, head start"}
POLICIES = {"lathe": "sketch", "random": "random", "head-start": "sketch"}
METASCHEDULE = ["apache-tvm==0.27.0.post1", "apache-tvm-ffi==0.1.14.post1", "numpy", "onnx", "xgboost-cpu",
                "psutil", "cloudpickle", "tornado"]


class Work:
    """Where everything of a network and a tuner is kept."""

    def __init__(self, arguments):
        self.folder = arguments.work
        self.threads = arguments.threads

    def path(self, network, what, ending):
        return os.path.join(self.folder, f"curves-{network}-{what}-{self.threads}{ending}")

    def result(self, network, what):
        """What was kept, or None."""
        path = self.path(network, what, ".json")
        if not os.path.exists(path):
            return None
        with open(path) as file:
            return json.load(file)

    def keep(self, network, what, result):
        path = self.path(network, what, ".json")
        with open(path + ".part", "w") as file:
            json.dump(result, file)
        os.replace(path + ".part", path)

    def library(self, network, tuner):
        return os.path.join(self.folder, f"libcurves-{network}-{tuner}-{self.threads}.so")


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def tune_lathe(arguments, work, network, tuner):
    """From nothing. Seconds count from the start of the process: the import and the untuned network's timing are in them."""
    cli = os.path.join(arguments.bin, "lathe-cli")
    model = onnx_file(network, arguments.work)
    project = work.path(network, tuner, ".lathe")
    remove(project, project + "-wal", project + "-shm")
    target = ["--target", f"cpu -threads={arguments.threads}"]
    command = [cli, "tune", model, "--project", project, "--time", f"{arguments.seconds}s",
               "--policy", POLICIES[tuner], "--head-start", arguments.head_start if tuner == "head-start" else "none", "--json", *target]
    points, measured, done = [], [], None
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            at, event = time.monotonic() - start, json.loads(line)
            if event["event"] == "estimate" and "ms" in event:
                points.append([at, event["ms"], 0])
            elif event["event"] == "measured" and "ms" in event:
                measured.append([at, event["ms"], event["untuned"]])
                if event["untuned"] and not points:
                    points.append([at, event["ms"], 1])  # what one would have, until there is an estimate
            elif event["event"] == "done":
                done = event
    if process.returncode or done is None:
        sys.exit(f"{' '.join(command)} failed")
    name = f"curves_{network}_{tuner}_{arguments.threads}".replace("-", "_").replace(".", "_")
    subprocess.run([cli, "compile", model, "--name", name, "-o", work.library(network, tuner), "--allow-default",
                    "--project", project, *target], stdout=subprocess.DEVNULL, check=True)
    return {"version": "here", "seconds": done["seconds"], "stopped": "time", "trials": done["trials"],
            "failed": sum(done["errors"].values()), "points": points, "measured": measured}


def metaschedule_python(arguments):
    """An environment of its own, made when it is needed first: Lathe needs neither to be built, tested or run."""
    python = os.environ.get("LATHE_BENCH_METASCHEDULE_PYTHON")
    if python:
        return python
    folder = os.path.join(arguments.work, "metaschedule")
    python = os.path.join(folder, "bin", "python")
    made = os.path.join(folder, "complete")
    if not os.path.exists(made):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *METASCHEDULE], check=True)
        open(made, "w").close()
    return python


def metaschedule(arguments, work, network, step):
    """The command line of metaschedule.py, and its environment."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "metaschedule.py")
    folder = work.path(network, "metaschedule", "")
    command = [metaschedule_python(arguments), script, step, "--folder", folder, "--threads", str(arguments.threads)]
    return command, {**os.environ, "TVM_NUM_THREADS": str(arguments.threads)}


def tune_metaschedule(arguments, work, network, tuner):
    folder = work.path(network, tuner, "")
    os.makedirs(folder, exist_ok=True)
    remove(os.path.join(folder, "result.json"))
    command, environment = metaschedule(arguments, work, network, "tune")
    limits = ["--model", onnx_file(network, arguments.work), "--seconds", str(arguments.metaschedule_seconds),
              "--trials", str(arguments.trials)]
    with open(os.path.join(folder, "tune.log"), "w") as log:
        if subprocess.run([*command, *limits], stdout=log, stderr=subprocess.STDOUT, env=environment).returncode:
            sys.exit(f"MetaSchedule failed on {network}: see {log.name}")
    with open(os.path.join(folder, "result.json")) as file:
        return json.load(file)


def tune(arguments, work):
    for network in arguments.networks:
        for tuner in arguments.tuners:
            if work.result(network, tuner) and not arguments.again:
                print(f"{network}, {TUNERS[tuner]}: kept from an earlier run (--again tunes anew)", flush=True)
                continue
            result = (tune_metaschedule if tuner == "metaschedule" else tune_lathe)(arguments, work, network, tuner)
            work.keep(network, tuner, result)
            remove(work.path(network, "times", ".json"))  # these were of the libraries before
            end = f"estimate {result['points'][-1][1]:.3f} ms" if result["points"] else "no estimate"
            trials = f"{result['trials']} trials in {result['seconds']:.0f} s, {result['failed']} failed"
            print(f"{network}, {TUNERS[tuner]}: {trials}, {end}", flush=True)


class Served:
    """MetaSchedule's library, in a process of its own that times one call when it is told to."""

    def __init__(self, arguments, work, network, x):
        folder = work.path(network, "metaschedule", "")
        np.save(os.path.join(folder, "input.npy"), x)
        command, environment = metaschedule(arguments, work, network, "serve")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        if self.process.stdout.readline().strip() != "ready":
            sys.exit(f"MetaSchedule's library of {network} does not run")
        self.output = np.load(os.path.join(folder, "output.npy"))

    def once(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def time_all(arguments, work):
    """The installed engines and what the tuners left, in turns on one input. True if all outputs agree."""
    good = True
    for network in arguments.networks:
        model = onnx_file(network, arguments.work)
        x = aligned(input_shape(network))
        x[:] = np.random.default_rng(0).standard_normal(x.shape, dtype=np.float32)
        engines = {}
        for key in arguments.peers:
            engines[key] = PEERS[key](model, lambda: torch_model(network), x, arguments.threads)
            engines[key].run()
        versions = {key: engine.version for key, engine in engines.items()}
        expected = np.array(next(iter(engines.values())).output)
        for tuner in TUNERS:
            if not work.result(network, tuner):
                continue
            if tuner == "metaschedule":
                engines[tuner] = Served(arguments, work, network, x)
            else:
                engines[tuner] = Lathe(work.library(network, tuner), x, expected.shape, arguments.threads)
                engines[tuner].run()
        largest = np.abs(expected).max()
        errors = {key: float(np.abs(engine.output - expected).max() / largest) for key, engine in engines.items()}
        turns = {key: getattr(engine, "once", None) or (lambda run=engine.run: once(run)) for key, engine in engines.items()}
        times = {key: [] for key in engines}
        for turn in turns.values():
            turn()
        for _ in range(arguments.rounds):
            for key, turn in turns.items():
                times[key].append(turn())
        if isinstance(engines.get("metaschedule"), Served):
            engines["metaschedule"].close()
        medians = {key: statistics.median(v) for key, v in times.items()}
        work.keep(network, "times", {"median": medians, "errors": errors, "versions": versions, "rounds": arguments.rounds})
        print(f"{network}: " + ", ".join(f"{key} {ms:.3f}" for key, ms in medians.items())
              + f" ms; max relative error {max(errors.values()):.1e}", flush=True)
        good = good and max(errors.values()) <= 1e-4
    return good


def at(result, second):
    """The estimate as it was then, and whether some task had not been tuned yet; None before there was one."""
    before = [point for point in result["points"] if point[0] <= second]
    return (before[-1][1], before[-1][2] > 0) if before else None


def table(network, results, times):
    heads = ["", *(f"{m:g} min" for m in MINUTES), "end of the run", "trials", "measured"]
    print(f"\n{network}\n\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    median = times["median"] if times else {}
    starred = False
    for tuner, result in results.items():
        cells = []
        for second in [*(60 * m for m in MINUTES), result["seconds"]]:
            value = at(result, second) if second <= result["seconds"] + 30 else None
            cells.append(f"{value[0]:.2f}{'*' if value[1] else ''}" if value else "-")
            starred = starred or (value is not None and value[1])
        cells[-1] += f" ({result['seconds'] / 60:.1f} min)"
        cells += [str(result["trials"]), f"{median[tuner]:.2f}" if tuner in median else "-"]
        print(f"| {TUNERS[tuner]} | " + " | ".join(cells) + " |")
    for key in PEERS:
        if key in median:
            version = times["versions"][key]
            print(f"| {PEERS[key].title} {version} | " + " | ".join([" "] * (len(MINUTES) + 2)) + f" | {median[key]:.2f} |")
    versions = [f"MetaSchedule {results['metaschedule']['version']}"] if "metaschedule" in results else []
    rounds = f"medians of {times['rounds']} interleaved rounds" if times else "not taken yet (`curves time`)"
    print("\nms; up to the end of the run estimates (the sum of the tasks' best), measured: "
          + "; ".join([rounds, *versions]) + "."
          + (" *: with tasks that had no trial yet, at what they take untuned." if starred else ""))


def show(arguments, work):
    panels = []
    for network in arguments.networks:
        results = {tuner: work.result(network, tuner) for tuner in TUNERS}
        results = {tuner: result for tuner, result in results.items() if result}
        times = work.result(network, "times")
        if not results:
            print(f"\n{network}: nothing kept; `curves tune` first")
            continue
        table(network, results, times)
        median = times["median"] if times else {}
        panels.append({"title": network,
                       "curves": [(TUNERS[t], r["points"], r["seconds"], median.get(t)) for t, r in results.items()],
                       "lines": [(PEERS[key].title, median[key]) for key in PEERS if key in median]})
    if panels:
        with open(arguments.svg, "w") as file:
            file.write(svg(panels, MINUTES))
        print(f"\nPlot: {arguments.svg}")


def main():
    parser = argparse.ArgumentParser(prog="tests/bench/curves")
    parser.add_argument("step", nargs="?", choices=["all", "tune", "time", "show"], default="all")
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--networks", default="resnet-18,mobilenet-v2")
    parser.add_argument("--tuners", default="lathe,random,metaschedule")
    parser.add_argument("--head-start", default="", help="the file that the tuner head-start begins with (tests/bench/head_start makes one)")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--seconds", type=int, default=480, help="for each run of Lathe's")
    parser.add_argument("--trials", type=int, default=1500, help="for each run of MetaSchedule's")
    parser.add_argument("--metaschedule-seconds", type=int, default=2400, help="at which it ends, whatever trials are left")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--again", action="store_true", help="tune anew what is kept")
    parser.add_argument("--svg", help="the plot [curves.svg among what is kept]")
    arguments = parser.parse_args()
    for what, known in (("networks", NETWORKS), ("tuners", TUNERS), ("peers", PEERS)):
        words = getattr(arguments, what).split(",")
        unknown = [word for word in words if word not in known]
        if unknown:
            sys.exit(f"unknown among the {what}: {', '.join(unknown)}; there are {', '.join(known)}")
        setattr(arguments, what, words)
    if "head-start" in arguments.tuners and arguments.step in ("all", "tune") and not arguments.head_start:
        parser.error("say with --head-start FILE what the tuner head-start begins with")
    arguments.svg = arguments.svg or os.path.join(arguments.work, "curves.svg")
    work = Work(arguments)
    if arguments.step in ("all", "tune"):
        tune(arguments, work)
    good = time_all(arguments, work) if arguments.step in ("all", "time") else True
    if arguments.step in ("all", "show"):
        show(arguments, work)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
