#!/usr/bin/env python3
"""How far the estimate of registers is from what AMD's compiler takes, over the kernels that launch_texts wrote.

Usage: registers.py FOLDER [--libraries BITCODE] [--cpu gfx1030]

Needs clang-19 (Debian: clang-19) and AMD's device libraries (Debian: rocm-device-libs; unpacked anywhere, BITCODE is
its folder amdgcn/bitcode). No GPU and no driver. Writes FOLDER/compiled.csv (file, kernel, registers, spills, shared
bytes, waves) and prints how many estimates are within 25 % (of all kernels, as often as they
were drawn, and of those that differ), and every kernel whose shared bytes differ.
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys


def compiled(path, options):
    """What the compiler says of each kernel of a text, by name."""
    command = ["clang-19", "-x", "cl", "-cl-std=CL1.2", "-O3", "-target", "amdgcn-amd-amdhsa", f"-mcpu={options.cpu}",
               f"--rocm-device-lib-path={options.libraries}", "-Rpass-analysis=kernel-resource-usage", "-c", "-o",
               "/dev/null", str(path)]
    text = subprocess.run(command, capture_output=True, text=True)
    if text.returncode != 0:
        sys.exit(f"{path}: {text.stderr}")
    kernels, name = {}, None
    for line in text.stderr.splitlines():
        if found := re.search(r"remark: +(Function Name|VGPRs|VGPRs Spill|LDS Size \[bytes/block\]|"
                              r"Occupancy \[waves/SIMD\]): (\S+)", line):
            key, value = found.groups()
            if key == "Function Name":
                name = value
                kernels[name] = {}
            else:
                kernels[name][key.split(" [")[0]] = int(value)
    return kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--libraries", default="/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
    parser.add_argument("--cpu", default="gfx1030")
    options = parser.parse_args()
    with open(options.folder / "resources.csv") as table:
        rows = list(csv.DictReader(table))
    by_file = {}
    errors = []
    distinct = {}
    with open(options.folder / "compiled.csv", "w") as out:
        out.write("file,kernel,registers,spills,shared,waves\n")
        for row in rows:
            if row["file"] not in by_file:
                by_file[row["file"]] = compiled(options.folder / row["file"], options)
            said = by_file[row["file"]][row["kernel"]]
            out.write(f"{row['file']},{row['kernel']},{said['VGPRs']},{said['VGPRs Spill']},{said['LDS Size']},"
                      f"{said['Occupancy']}\n")
            out.flush()
            errors.append(int(row["registers"]) / said["VGPRs"] - 1)
            distinct[row["kernel"]] = errors[-1]
            if int(row["shared"]) != said["LDS Size"]:
                print(f"{row['file']} {row['kernel']}: {row['shared']} bytes are shared, and the compiler says "
                      f"{said['LDS Size']}")
    for what, some in ("kernels", errors), ("of them distinct", list(distinct.values())):
        near = sum(abs(e) <= 0.25 for e in some)
        print(f"{len(some)} {what}: {near} within 25 % ({100 * near / len(some):.1f} %), "
              f"{sum(e < -0.25 for e in some)} too low, {sum(e > 0.25 for e in some)} too high")


if __name__ == "__main__":
    main()
