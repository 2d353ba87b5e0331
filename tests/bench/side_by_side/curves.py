"""Called by tests/bench/curves (see there): how good the whole network is after so many minutes, for several tuners."""

import argparse
import contextlib
import json
import os
import sqlite3
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

    def library(self, network, tuner, minute=None):
        """Of the end of the run, or of what it had after so many minutes."""
        return os.path.join(self.folder, f"libcurves-{network}-{moment(tuner, minute)}-{self.threads}.so")


def moment(tuner, minute):
    return tuner if minute is None else f"{tuner}-{minute:g}min"


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def copy_project(project, copy):
    """While the run goes on writing: what it would leave if it were stopped now."""
    remove(copy, copy + "-wal", copy + "-shm")
    with contextlib.closing(sqlite3.connect(project)) as source, contextlib.closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def tune_lathe(arguments, work, network, tuner):
    """From nothing. Seconds count from the start of the process: the import and the untuned network's timing are in them.

    A library is compiled of what there was after each of MINUTES, without finals, and one of the end."""
    cli = os.path.join(arguments.bin, "lathe-cli")
    model = onnx_file(network, arguments.work)
    project = work.path(network, tuner, ".lathe")
    remove(project, project + "-wal", project + "-shm")
    target = ["--target", f"cpu -threads={arguments.threads}"]
    command = [cli, "tune", model, "--project", project, "--time", f"{arguments.seconds}s",
               "--policy", POLICIES[tuner], "--head-start", arguments.head_start if tuner == "head-start" else "none", "--json", *target]
    points, measured, done = [], [], None
    copies = {m: work.path(network, moment(tuner, m), ".lathe") for m in MINUTES if 60 * m < arguments.seconds - 1}
    due = sorted(copies)
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            at, event = time.monotonic() - start, json.loads(line)
            if due and at >= 60 * due[0]:
                copy_project(project, copies[due.pop(0)])
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
    for minute, tuned in [*((m, copies[m]) for m in copies if m not in due), (None, project)]:
        name = f"curves_{network}_{moment(tuner, minute)}_{arguments.threads}".replace("-", "_").replace(".", "_")
        subprocess.run([cli, "compile", model, "--name", name, "-o", work.library(network, tuner, minute), "--allow-default", "--no-bench",
                        "--project", tuned, *target], stdout=subprocess.DEVNULL, check=True)
    return {"version": "here", "seconds": done["seconds"], "stopped": "time", "trials": done["trials"],
            "failed": sum(done["errors"].values()), "points": points, "measured": measured, "minutes": [m for m in copies if m not in due]}


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
                continue
            for minute in [*work.result(network, tuner).get("minutes", []), None]:
                engines[moment(tuner, minute)] = Lathe(work.library(network, tuner, minute), x, expected.shape, arguments.threads)
                engines[moment(tuner, minute)].run()
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


def ends_at(result, minute):
    """A budget is kept to a few seconds."""
    return abs(result["seconds"] - 60 * minute) <= 15


def dots(tuner, result, median):
    """[minute, ms] of what was measured side by side: what there was at these times, and the end of the run."""
    found = [(m, median.get(moment(tuner, m))) for m in result.get("minutes", [])] + [(result["seconds"] / 60, median.get(tuner))]
    return [(minute, ms) for minute, ms in found if ms is not None]


def table(network, results, times):
    heads = ["", *(f"{m:g} min" for m in MINUTES), "end of the run", "trials"]
    print(f"\n{network}\n\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    median = times["median"] if times else {}
    row = lambda name, cells: print(f"| {name} | " + " | ".join(cells) + " |")
    starred = False
    for tuner, result in results.items():
        cells = []
        for second in [*(60 * m for m in MINUTES), result["seconds"]]:
            value = at(result, second) if second <= result["seconds"] or ends_at(result, second / 60) else None
            cells.append(f"{value[0]:.2f}{'*' if value[1] else ''}" if value else "-")
            starred = starred or (value is not None and value[1])
        cells[-1] += f" ({result['seconds'] / 60:.1f} min)"
        row(f"{TUNERS[tuner]}, estimated", [*cells, str(result["trials"])])
        if tuner in median:
            then = {m: median.get(tuner if ends_at(result, m) else moment(tuner, m)) for m in MINUTES}
            row(f"{TUNERS[tuner]}, measured", [*(f"{ms:.2f}" if ms else "-" for ms in then.values()), f"{median[tuner]:.2f}", " "])
    for key in PEERS:
        if key in median:
            row(f"{PEERS[key].title} {times['versions'][key]}", [*[" "] * len(MINUTES), f"{median[key]:.2f}", " "])
    versions = [f"MetaSchedule {results['metaschedule']['version']}"] if "metaschedule" in results else []
    rounds = f"medians of {times['rounds']} interleaved rounds" if times else "not taken yet (`curves time`)"
    print("\nms; estimated: the sum of the tasks' best until then; measured: the network as a library of the best until then, "
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
                       "curves": [(TUNERS[t], r["points"], r["seconds"], dots(t, r, median)) for t, r in results.items()],
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
    parser.add_argument("--metaschedule-seconds", type=int, default=7200, help="at which it ends, whatever trials are left")
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
