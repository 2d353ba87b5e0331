"""Networks on an NVIDIA GPU: a tuned library beside PyTorch on the same device, in one process, in turns."""

import os
import statistics

import numpy as np

from device import Device
from layers import Library, milliseconds
from programs import Programs

# Lathe's zoo has them as torchvision builds them, but for resnet-18 (version 2), of which torchvision has version 1.
NETWORKS = {"resnet18_v1": "resnet18", "mobilenet-v2": "mobilenet_v2", "squeezenet-1.1": "squeezenet1_1", "resnet-50": "resnet50"}


class Graph:
    """A PyTorch network whose launches are replayed as one CUDA graph, in float32 without the short tf32 products."""

    def __init__(self, torch, name, compiled):
        import torchvision

        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        torch.manual_seed(0)
        model = getattr(torchvision.models, name)().eval().cuda().to(memory_format=torch.channels_last)
        self.torch = torch
        self.values = torch.randn(1, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
        self.model = torch.compile(model, mode="max-autotune-no-cudagraphs") if compiled else model
        with torch.no_grad():
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(5):
                    self.model(self.values)
            stream.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.result = self.model(self.values)

    def run(self):
        self.graph.replay()
        self.torch.cuda.synchronize()


class TorchNetworks(Programs):
    def __init__(self, arguments):
        super().__init__(arguments, "opencl-torch")

    def library(self, name, project, device):
        path = os.path.join(self.folder, name + ".so")
        self.lathe("compile", f"zoo:{name}", "--project", project, "--target", self.arguments.target, "--name", "network",
                   "--allow-default", "--no-bench", "--overwrite", "-o", path)
        values = np.random.default_rng(0).standard_normal((1, 3, 224, 224), dtype=np.float32)
        return Library(device, path, "network", values, (1, 1000))

    def run(self):
        import torch

        device = Device()
        print(f"{device.name} by {device.platform}; PyTorch {torch.__version__} on {torch.cuda.get_device_name()}")
        print("| network | trials | a second | estimated ms | Lathe ms | eager ms | compiled ms | ratio to eager | ratio to compiled |\n" + "|---" * 9 + "|")
        for name, theirs in NETWORKS.items():
            if self.arguments.only and not any(part in name for part in self.arguments.only):
                continue
            project = os.path.join(self.folder, name + ".lathe")
            done = [e for e in self.tune(f"zoo:{name}", project, "--target", self.arguments.target) if e["event"] == "done"][-1]
            sides = {"Lathe": self.library(name, project, device), "eager": Graph(torch, theirs, False)}
            if not self.arguments.eager:
                sides["compiled"] = Graph(torch, theirs, True)
            times = {side: [] for side in sides}
            for _ in range(self.arguments.rounds):
                for side, engine in sides.items():
                    times[side].append(milliseconds(engine.run))
            sides["Lathe"].release()
            row = [f"{statistics.median(times[side]):.3f}" if side in times else "-" for side in ("Lathe", "eager", "compiled")]
            row += [f"{statistics.median(a / b for a, b in zip(times['Lathe'], times[side])):.2f}" if side in times else "-" for side in ("eager", "compiled")]
            print(f"| {name} | {done['trials']} | {done['trials_per_s']:.1f} | {done['estimated_ms']:.3f} | " + " | ".join(row) + " |", flush=True)
