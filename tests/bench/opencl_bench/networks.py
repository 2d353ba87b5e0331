"""Whole networks on an OpenCL device: whether all of the zoo are right, what some are worth tuned, and the tasks of a network for Mali."""

import json
import os
import re
import subprocess
import sys

from programs import Programs

TUNED = ("resnet-18", "mobilenet", "squeezenet-1.1")


class Networks(Programs):
    def __init__(self, arguments):
        super().__init__(arguments, "opencl-networks")

    def chosen(self, names):
        only = self.arguments.only
        return [name for name in names if not only or any(part in name for part in only)]

    def verify(self):
        """Each network of the zoo, untuned, against the reference executor."""
        listed = self.lathe("zoo", "list")
        worst, refused = 0.0, []
        print("| network | largest relative error |\n|---|---|")
        for name in self.chosen([line.split()[0] for line in listed.splitlines() if line.strip()]):
            done = subprocess.run([self.cli, "verify", f"zoo:{name}", "--target", self.arguments.target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)
            errors = [float(value) for value in re.findall(r"largest relative error ([0-9.e+-]+)", done.stdout)]
            if done.returncode or not errors:
                refused.append(name)
                print(f"| {name} | {done.stdout.strip().splitlines()[-1]} |", flush=True)
                continue
            worst = max(worst, *errors)
            print(f"| {name} | {max(errors):.1e} |", flush=True)
        print(f"\nThe largest is {worst:.1e}; {len(refused)} of them did not agree.")

    def networks(self):
        print("| network | trials | a second | estimated ms | measured ms | estimated to measured | gain over untuned | largest relative error |\n" + "|---" * 8 + "|")
        for name in self.chosen(TUNED):
            project = os.path.join(self.folder, name + ".lathe")
            events = self.tune(f"zoo:{name}", project, "--target", self.arguments.target)
            done = [e for e in events if e["event"] == "done"][-1]
            if not {"estimated_ms", "measured_ms"} <= done.keys():
                sys.exit(f"{self.arguments.seconds} s end before all of {name} was measured once: give it more")
            again = json.loads(self.lathe("gain", project, "--json"))
            checked = self.lathe("verify", f"zoo:{name}", "--project", project, "--target", self.arguments.target)
            error = max(float(value) for value in re.findall(r"largest relative error ([0-9.e+-]+)", checked))
            gain = again.get("gain") or {}
            measured = done["measured_ms"]  # at the time of the estimate
            ratio = f"{gain['ratio']:.2f}" if "ratio" in gain else "-"
            print(f"| {name} | {done['trials']} | {done['trials_per_s']:.1f} | {done['estimated_ms']:.2f} | {measured:.2f} | {done['estimated_ms'] / measured:.3f} | {ratio} | {error:.1e} |", flush=True)

    def mali(self):
        """mobilenet in NHWC as the reference cuts it into 22 tasks, within the limits of Mali, whatever device runs it. In turns: the schedulers
        that go by gain leave tasks alone that a processor has done with in microseconds."""
        project = os.path.join(self.folder, "mali.lathe")
        words = ["--layout", "NHWC", "--partition", "reference", "--target", "opencl -device=mali", "--scheduler", "round-robin", "--trials-per-round", "16"]
        self.tune("zoo:mobilenet", project, *words)
        best = {}
        for record in json.loads(self.lathe("records", "list", project, "--json")):
            row = best.setdefault(record["task"], {"trials": 0, "failed": 0, "default": None, "best": None, "sketch": ""})
            row["trials"] += 1
            if record["status"] != "Ok":
                row["failed"] += 1
                continue
            if record["sketch"] == "default" and row["default"] is None:
                row["default"] = record["cost_ms"]
            if row["best"] is None or record["cost_ms"] < row["best"]:
                row["best"], row["sketch"] = record["cost_ms"], record["sketch"]
        print("| task | trials | failed | default ms | best ms | ratio | by |\n|---|---|---|---|---|---|---|")
        for name, row in best.items():
            print(f"| {name} | {row['trials']} | {row['failed']} | {row['default']:.3f} | {row['best']:.3f} | {row['best'] / row['default']:.2f} | {row['sketch']} |")
        print(f"\n{len(best)} tasks.")
