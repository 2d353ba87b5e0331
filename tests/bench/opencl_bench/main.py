"""Called by tests/bench/opencl (see there)."""

import argparse
import os

import clblast
import layers
import offline
from device import Device
from networks import Networks
from torch_networks import TorchNetworks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["clblast", "tune", "time", "verify", "networks", "mali", "torch", "offline"])
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--target", default="opencl")
    parser.add_argument("--only", action="append", default=[], help="layers or networks whose names have this in them")
    parser.add_argument("--seconds", type=int, default=120, help="for which each layer, or each network, is tuned")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--eager", action="store_true", help="leave torch.compile out, which takes minutes")
    parser.add_argument("--resume", action="store_true", help="tune kept projects further instead of from nothing")
    parser.add_argument("--libraries", default="/usr/lib/x86_64-linux-gnu/amdgcn/bitcode", help="of rocm-device-libs, for offline")
    arguments = parser.parse_args()
    tuned = os.path.join(arguments.work, "clblast")
    if arguments.step == "clblast":
        clblast.tune(tuned, layers.tuning_sizes())
    elif arguments.step == "tune":
        bench = layers.Layers(arguments)
        for layer in layers.chosen(arguments.only):
            bench.tune_layer(layer)
    elif arguments.step == "offline":
        offline.main(arguments)
    elif arguments.step == "torch":
        TorchNetworks(arguments).run()
    elif arguments.step in ("verify", "networks", "mali"):
        getattr(Networks(arguments), arguments.step)()
    else:
        sets = clblast.tuned(tuned)
        if not sets:
            raise SystemExit("CLBlast is not tuned for this device: run the step clblast first")
        device, bench = Device(), layers.Layers(arguments)
        rows = [bench.time(device, layer, sets) for layer in layers.chosen(arguments.only)]
        layers.table(rows, device, arguments.rounds)


if __name__ == "__main__":
    main()
