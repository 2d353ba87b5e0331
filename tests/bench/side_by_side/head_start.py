"""Called by tests/bench/head_start (see there): a head start of networks outside the benchmark."""

import argparse
import os
import platform
import subprocess
import sys

from networks import NETWORKS, onnx_file

# Where they differ from the benchmark's in their extents, the tasks are theirs alone; those that they share are left out.
OUTSIDE = ["zoo:mobilenet-v3-large", "zoo:mobilenet-fixed", "zoo:squeezenet-1.0", "zoo:bert-base", "zoo:dcgan", "mnasnet1_0",
           "googlenet", "regnet_y_400mf", "efficientnet_b2", "shufflenet_v2_x0_5", "densenet169", "resnext50_32x4d", "wide_resnet50_2"]
SIDES = {"efficientnet_b2": 288}  # of the input image; else 224


def torchvision_file(name, folder):
    """Path of the exported network, with fresh weights; exports it if it is not there."""
    import torch
    import torchvision

    path = os.path.join(folder, f"outside-{name}.onnx")
    if not os.path.exists(path):
        torch.manual_seed(0)
        options = {"init_weights": True} if name == "googlenet" else {}
        model = getattr(torchvision.models, name)(weights=None, **options).eval()
        side = SIDES.get(name, 224)
        torch.onnx.export(model, (torch.randn(1, 3, side, side),), path + ".part.onnx", input_names=["input"], output_names=["output"],
                          external_data=False)
        os.rename(path + ".part.onnx", path)
    return path


def in_benchmark(name):
    """Whether it is one of the benchmark's, by any of its names."""
    plain = {other.replace("_", "").replace("-", "") for short, (constructor, _) in NETWORKS.items() for other in (short, constructor)}
    return name.removeprefix("zoo:").replace("_", "").replace("-", "") in plain


def zoo_names(cli):
    return [line.split()[0] for line in subprocess.run([cli, "zoo", "list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser(prog="tests/bench/head_start")
    parser.add_argument("step", nargs="?", choices=["make", "tune"], default="make")
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--top", required=True)
    parser.add_argument("--networks", default=",".join(OUTSIDE))
    parser.add_argument("--seconds", type=int, default=900, help="for each network")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--output", default="")
    arguments = parser.parse_args()
    cli = os.path.join(arguments.bin, "lathe-cli")
    networks = arguments.networks.split(",")
    for name in networks:
        if in_benchmark(name):
            sys.exit(f"{name} is of the benchmark: nothing of it belongs into a head start")

    projects = []
    for name in networks:
        project = os.path.join(arguments.work, f"outside-{name.replace(':', '-')}-{arguments.threads}.lathe")
        projects.append(project)
        finished = project + ".done"
        if os.path.exists(finished) and not arguments.again:
            continue
        for path in (project, project + "-wal", project + "-shm", finished):
            if os.path.exists(path):
                os.remove(path)
        print(f"tuning {name} for {arguments.seconds} s", flush=True)
        model = name if name.startswith("zoo:") else torchvision_file(name, arguments.work)
        subprocess.run([cli, "tune", model, "--project", project, "--time", f"{arguments.seconds}s", "--head-start", "none",
                        "--target", f"cpu -threads={arguments.threads}"], stdout=subprocess.DEVNULL, check=True)
        open(finished, "w").close()
    if arguments.step == "tune":
        return

    # Of each network of the benchmark both what is timed (torchvision's) and the zoo's.
    without = [onnx_file(name, arguments.work) for name in NETWORKS]
    without += [f"zoo:{name}" for name in zoo_names(cli) if in_benchmark(name)]
    output = arguments.output or os.path.join(arguments.top, "resources", "head_start", f"cpu-{platform.machine()}.headstart")
    subprocess.run([cli, "head-start", "make", *projects, "-o", output, "--without", *without], check=True)
    subprocess.run([cli, "head-start", "show", output], check=True)


if __name__ == "__main__":
    main()
