"""MetaSchedule on one network, in the virtual environment that tests/bench/curves makes for it; curves.py starts it.

    metaschedule.py tune --model MODEL.onnx --folder FOLDER --threads N --seconds S --trials N
    metaschedule.py serve --folder FOLDER --threads N

`tune` writes result.json and network.so into the folder; `serve` times network.so: a line in, the milliseconds of a call out.

What it takes to be fair to it, and what does not go without saying in 0.27:
- TVM_NUM_THREADS must be set before anything of it is loaded (curves.py does): kernels have as many threads as it says in the
  runner's process, which inherits it. The search's own threads come from num_threads, the builder's from max_workers.
- A target is a dictionary (strings with options are refused), and its schedule rules ask it for num-cores.
- Those rules do better on NHWC. ConvertLayout turns the convolutions and what lies between them; weights are constants,
  so that their transposition is folded.
- AttachAttrLayoutFreeBuffers allows tasks to choose their weights' layout; after tuning SplitLayoutRewritePreproc takes the
  repacking out of the kernels and FoldConstant runs it at compile time.
- Its default is 64 trials in turn for each task, so that most of 1,500 trials go by before the last of resnet-18's 20 tasks
  has had any. Until then a task counts with what it takes without a schedule, measured by the same runner after tuning.
  A network with more tasks than there are rounds of 64 (mobilenet-v2 with 1,500) has smaller rounds: else some would get none.
- Results of a round are taken when its task has its turn again: the time can end a run only after each task has had a round.
- A task's cost is measured with its data in the caches, so that the sum of costs is below what the network takes.
"""

import argparse
import collections
import json
import os
import shutil
import sys
import time

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.ir.utils import derived_object
from tvm.relax.frontend.onnx import from_onnx
from tvm.s_tir import meta_schedule
from tvm.s_tir.meta_schedule.relax_integration import extract_tasks, extracted_tasks_to_tune_contexts
from tvm.s_tir.meta_schedule.runner.local_runner import LocalRunnerFuture

PASSES = relax.transform


def lowered(model, target):
    """The network in NHWC, as functions that are tuned one by one."""
    network = from_onnx(onnx.load(model), keep_params_in_input=False)
    with target:
        return tvm.transform.Sequential([
            PASSES.DecomposeOpsForInference(), PASSES.CanonicalizeBindings(), PASSES.FoldConstant(),
            PASSES.ConvertLayout({"relax.nn.conv2d": ["NHWC", "HWIO"]}), PASSES.FoldConstant(), PASSES.CanonicalizeBindings(),
            relax.get_pipeline("zero"), PASSES.FoldConstant(), PASSES.DeadCodeElimination(),
            PASSES.AttachAttrLayoutFreeBuffers()])(network)


class TimeIsUp(Exception):
    pass


class Clock:
    """When each candidate was measured, by the file that it was built into."""

    def __init__(self, seconds):
        self.start = time.monotonic()
        self.seconds = seconds
        self.measured = {}
        self.trials = []  # [second, task, milliseconds or None]
        self.errors = collections.Counter()
        self.ended = False  # by TimeIsUp

    def now(self):
        return time.monotonic() - self.start


def builder_of(threads):
    """Each batch starts new processes, whose start counts: on a busy machine the usual 30 seconds do not suffice for any."""
    return meta_schedule.builder.LocalBuilder(max_workers=threads, timeout_sec=600)


def runner_of(clock):
    """The local runner, one candidate after another, and none when the time is up: a batch of 64 takes about a minute."""
    local = meta_schedule.runner.LocalRunner()

    @derived_object
    class Timed(meta_schedule.runner.PyRunner):
        def run(self, inputs):
            results = []
            for candidate in inputs:
                if clock.now() > clock.seconds:
                    results.append(LocalRunnerFuture(None, "the time is up"))
                    continue
                results += local.run([candidate])
                clock.measured[str(candidate.artifact_path)] = clock.now()
            return results

    return Timed()


def recorder_of(clock):
    """Comes behind the default callbacks, so that a batch is in the database before the run is ended."""

    @derived_object
    class Recorder(meta_schedule.measure_callback.PyMeasureCallback):
        def apply(self, task_scheduler, task_id, measure_candidates, builder_results, runner_results):
            for built, run in zip(builder_results, runner_results):
                at = clock.measured.get(str(built.artifact_path), clock.now())
                if at <= clock.seconds:
                    good = run.error_msg is None and run.run_secs
                    clock.trials.append([at, task_id, mean_ms(run.run_secs) if good else None])
                    if not good:
                        clock.errors[summary(built.error_msg or run.error_msg)] += 1
            if clock.now() > clock.seconds:
                clock.ended = True
                raise TimeIsUp

    return Recorder()


def summary(error):
    """The last line that says something: what goes before it is a trace of calls."""
    return ([line.strip() for line in str(error).splitlines() if line.strip()] or ["no message"])[-1][:200]


def mean_ms(seconds):
    return 1e3 * sum(float(s) for s in seconds) / len(seconds)


def untuned_ms(tasks, target, threads):
    """What the tasks take as they are. None where that is longer than the runner waits."""
    builder = builder_of(threads)
    runner = meta_schedule.runner.LocalRunner(timeout_sec=60)
    times = []
    inputs = [meta_schedule.builder.BuilderInput(task.dispatched[0], target) for task in tasks]
    for task, built in zip(tasks, builder.build(inputs)):
        if built.artifact_path is None:
            print(f"{task.task_name} untuned: {built.error_msg}", file=sys.stderr)
            times.append(None)
            continue
        arguments = meta_schedule.arg_info.ArgInfo.from_entry_func(task.dispatched[0], remove_preproc=True)
        [future] = runner.run([meta_schedule.runner.RunnerInput(built.artifact_path, "cpu", arguments)])
        result = future.result()
        if result.run_secs is None:
            print(f"{task.task_name} untuned: {result.error_msg}", file=sys.stderr)
        times.append(mean_ms(result.run_secs) if result.run_secs else None)
        shutil.rmtree(os.path.dirname(built.artifact_path), ignore_errors=True)
    return times


def curve(trials, weights, untuned):
    """[second, estimate of the network, tasks that had no trial yet], wherever the estimate changed. `trials` is sorted."""
    best = [None] * len(weights)
    points = []
    for at, task, ms in trials:
        if ms is None or (best[task] is not None and best[task] <= ms):
            continue
        best[task] = ms
        parts = [b if b is not None else u for b, u in zip(best, untuned)]
        if None not in parts:
            points.append([at, sum(w * p for w, p in zip(weights, parts)), best.count(None)])
    return points


def tune(arguments):
    host = tvm.target.codegen.llvm_get_system_cpu()
    target = tvm.target.Target({"kind": "llvm", "mcpu": host, "num-cores": arguments.threads})
    network = lowered(arguments.model, target)
    contexts = [t for t in extract_tasks(network, target, params={}) if not t.mod.attrs.get("tirx.is_scheduled", False)]
    records = os.path.join(arguments.folder, "records")
    shutil.rmtree(records, ignore_errors=True)
    os.makedirs(records)
    clock = Clock(arguments.seconds)
    tasks, weights = extracted_tasks_to_tune_contexts(contexts, records, num_threads=arguments.threads, seed=arguments.seed)
    database = meta_schedule.database.JSONDatabase(work_dir=records)
    stopped = "trials"
    try:
        meta_schedule.tune_tasks(
            tasks=tasks, task_weights=weights, work_dir=records, max_trials_global=arguments.trials,
            num_trials_per_iter=max(1, min(64, arguments.trials // len(tasks))), database=database,
            builder=builder_of(arguments.threads), runner=runner_of(clock),
            measure_callbacks=[*meta_schedule.measure_callback.MeasureCallback.create("default"), recorder_of(clock)])
    except Exception:  # of whatever type TimeIsUp is after its way through C++
        if not clock.ended:
            raise
        stopped = "time"
    took = min(clock.now(), clock.seconds)
    without = len(tasks) - len({task for _, task, _ in clock.trials})
    if without:
        sys.exit(f"{without} of {len(tasks)} tasks have no results at its end: more --metaschedule-seconds, or --trials")
    print(f"{len(clock.trials)} trials in {took:.0f} s; compiling", file=sys.stderr, flush=True)
    clock.trials.sort()
    untuned = untuned_ms(contexts, target, arguments.threads)
    with target, database:
        network = tvm.transform.Sequential([
            PASSES.MetaScheduleApplyDatabase(), PASSES.SplitLayoutRewritePreproc(), PASSES.FoldConstant(),
            PASSES.DeadCodeElimination()])(network)
    tvm.compile(network, target=target).export_library(os.path.join(arguments.folder, "network.so"))
    weights = [int(w) for w in weights]
    result = {"version": tvm.__version__, "seconds": took, "stopped": stopped, "trials": len(clock.trials),
              "failed": sum(clock.errors.values()), "errors": clock.errors,
              "points": curve(clock.trials, weights, untuned),
              "tasks": [{"name": t.task_name, "weight": w, "untuned_ms": u} for t, w, u in zip(contexts, weights, untuned)],
              "each_trial": clock.trials}
    with open(os.path.join(arguments.folder, "result.json"), "w") as file:
        json.dump(result, file)


def serve(arguments):
    """Runs on FOLDER/input.npy, leaves FOLDER/output.npy, then times a call for each line that comes."""
    from main import once

    device = tvm.cpu()
    machine = relax.VirtualMachine(tvm.runtime.load_module(os.path.join(arguments.folder, "network.so")), device)
    x = tvm.runtime.tensor(np.load(os.path.join(arguments.folder, "input.npy")), device)
    np.save(os.path.join(arguments.folder, "output.npy"), machine["main"](x).numpy())
    print("ready", flush=True)
    for _ in sys.stdin:
        print(once(lambda: machine["main"](x)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["tune", "serve"])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--model")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--trials", type=int)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    {"tune": tune, "serve": serve}[arguments.step](arguments)


if __name__ == "__main__":
    main()
