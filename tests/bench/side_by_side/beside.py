"""Two states of Lathe beside one another: the same projects compiled by both and timed in turns; runs of both in turns."""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys

import numpy as np

from engines import Lathe, aligned, description
from networks import input_shape, onnx_file

MEAN_AT_MOST = 1.02  # of all networks' ratios
ONE_AT_MOST = 1.03  # of each network's, and what two equal libraries differ by
TRIALS_AT_LEAST = 0.95

SUFFIXES = ("", "-wal", "-shm")


def _remove(project):
    for suffix in SUFFIXES:
        if os.path.exists(project + suffix):
            os.remove(project + suffix)


class Beside:
    """`now` and `before` are the folders with either state's programs."""

    def __init__(self, arguments, once):
        self.arguments = arguments
        self.cli = {"now": os.path.join(arguments.bin, "lathe-cli"), "before": os.path.join(arguments.beside, "lathe-cli")}
        self.once = once
        self.folder = os.path.join(arguments.work, "beside")
        os.makedirs(self.folder, exist_ok=True)

    def compiled(self, network, state, project):
        """The library that a state makes of a copy of the project: the later state may bring a project to its own schema."""
        own = os.path.join(self.folder, f"{network}-{state}.lathe")
        _remove(own)
        for suffix in SUFFIXES:
            if os.path.exists(project + suffix):
                shutil.copyfile(project + suffix, own + suffix)
        library = os.path.join(self.folder, f"lib{network}-{state}.so")
        name = f"beside_{network}_{state}".replace("-", "_").replace(".", "_")
        subprocess.run([self.cli[state], "compile", onnx_file(network, self.arguments.work), "--project", own, "--name", name,
                        "-o", library, "--allow-default", "--target", f"cpu -threads={self.arguments.threads}"],
                       stdout=subprocess.DEVNULL, check=True)
        return library

    def time(self, network):
        project = os.path.join(self.arguments.work, f"{network}-{self.arguments.threads}.lathe")
        if not os.path.exists(project):
            sys.exit(f"{project} is not there: engines tune makes it")
        before, now = (self.compiled(network, state, project) for state in ("before", "now"))
        copy = before.replace(".so", "-copy.so")  # a file of its own, so that it is loaded once more
        shutil.copyfile(before, copy)
        x = aligned(input_shape(network))
        x[:] = np.random.default_rng(0).standard_normal(x.shape, dtype=np.float32)
        shape = tuple(description(before)["outputs"][0]["shape"])
        threads = self.arguments.threads
        libraries = {"before": Lathe(before, x, shape, threads), "copy": Lathe(copy, x, shape, threads, description(before)),
                     "now": Lathe(now, x, shape, threads)}
        for library in libraries.values():
            library.run()
        expected = libraries["before"].output
        error = float(np.abs(libraries["now"].output - expected).max() / np.abs(expected).max())
        times = {state: [] for state in libraries}
        order = list(libraries)
        for _ in range(self.arguments.rounds):
            for state in order:
                times[state].append(self.once(libraries[state].run))
            order.append(order.pop(0))  # each is first, second and last in turns
        paired = lambda state: statistics.median(a / b for a, b in zip(times[state], times["before"]))
        row = {"network": network, "error": error, "ratio": paired("now"), "equal": paired("copy"),
               "median": {state: statistics.median(t) for state, t in times.items()}}
        print(f"{network}: before {row['median']['before']:.3f}, its copy {row['median']['copy']:.3f}, now {row['median']['now']:.3f} ms;"
              f" ratio {row['ratio']:.3f}, of equal libraries {row['equal']:.3f}, max relative error {error:.1e}", flush=True)
        return row

    def time_all(self, networks):
        rows = [self.time(network) for network in networks]
        print("\n| network | before ms | its copy | now | now / before | equal libraries | error |\n|" + "---|" * 7)
        for row in rows:
            m = row["median"]
            print(f"| {row['network']} | {m['before']:.3f} | {m['copy']:.3f} | {m['now']:.3f} | {row['ratio']:.3f}"
                  f" | {row['equal']:.3f} | {row['error']:.0e} |")
        mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
        equal = math.exp(sum(math.log(row["equal"]) for row in rows) / len(rows))
        print(f"\n{self.arguments.threads} threads, medians of {self.arguments.rounds} interleaved rounds and of their ratios. Geometric mean"
              f" {mean:.3f}, of equal libraries {equal:.3f}.")
        beyond = [row["network"] for row in rows if row["ratio"] > ONE_AT_MOST + abs(row["equal"] - 1)]
        if beyond:
            print("Slower than before: " + ", ".join(beyond))
        return mean <= MEAN_AT_MOST and not beyond and all(row["error"] <= 1e-4 for row in rows)

    def tuned(self, network, state, turn):
        """Trials a second of a run from nothing."""
        project = os.path.join(self.folder, f"trials-{network}-{state}-{turn}.lathe")
        _remove(project)
        out = subprocess.run([self.cli[state], "tune", onnx_file(network, self.arguments.work), "--project", project, "--json",
                              "--time", f"{self.arguments.seconds}s", "--head-start", "none",
                              "--target", f"cpu -threads={self.arguments.threads}"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
        done = [event for event in map(json.loads, out.strip().splitlines()) if event.get("event") == "done"]
        return done[-1]["trials_per_s"]

    def trials(self, networks):
        """Pairs of runs, each state first in turns."""
        ratios = []
        for network in networks:
            for turn in range(self.arguments.rounds):
                order = ("before", "now") if turn % 2 == 0 else ("now", "before")
                rate = {state: self.tuned(network, state, turn) for state in order}
                ratios.append(rate["now"] / rate["before"])
                print(f"{network}: before {rate['before']:.1f}, now {rate['now']:.1f} trials a second; ratio {ratios[-1]:.3f}", flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\nGeometric mean of {len(ratios)} pairs of {self.arguments.seconds} s: {mean:.3f}")
        return mean >= TRIALS_AT_LEAST
