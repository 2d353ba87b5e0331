"""What compilers for GPUs that are not here make of the candidates that Lathe's search would measure first: build/*/tests/network_texts
writes them, clang-19 compiles them for AMD's gfx1030 (with rocm-device-libs), ocloc for Intel's dg2 and pvc."""

import csv
import os
import re
import subprocess
import sys

NETWORKS = ("resnet-18", "resnet-50", "mobilenet")


def amd(path, libraries):
    """Registers, spills, shared bytes and waves of each kernel."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "launches"))
    import registers

    class Options:
        cpu = "gfx1030"

    Options.libraries = libraries
    return {name: {"registers": said["VGPRs"], "spills": said["VGPRs Spill"], "shared": said["LDS Size"], "waves": said["Occupancy"]}
            for name, said in registers.compiled(path, Options).items()}


def intel(path, device, folder):
    """Width, registers and spilled bytes of each kernel, which stand in the binary as text."""
    made = subprocess.run(["ocloc", "compile", "-file", path, "-device", device, "-options", "-cl-std=CL1.2", "--format", "zebin",
                           "-out_dir", folder, "-output", f"made-{device}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    binaries = [name for name in os.listdir(folder) if name.startswith(f"made-{device}") and name.endswith(".bin")]
    if made.returncode or not binaries:
        sys.exit(f"{path} for {device}: {made.stdout}")
    found = {}
    for name in binaries:
        file = os.path.join(folder, name)
        text = open(file, "rb").read().decode("latin-1")
        os.remove(file)
        for part in re.split(r"\n +- name: +", text)[1:]:
            kernel = re.match(r"\w+", part).group()
            number = lambda key: int((re.search(rf"{key}: +(\d+)", part) or [0, "0"])[1])
            spilled = re.search(r"usage: +spill_fill_space\s+size: +(\d+)", part)
            if number("simd_size"):
                found[kernel] = {"simd": number("simd_size"), "registers": number("grf_count"), "spills": int(spilled[1]) if spilled else 0}
    return found


def main(arguments):
    work = os.path.join(arguments.work, "opencl-offline")
    for device in ("amd", "intel"):
        heads = ["gfx1030 registers", "spills", "waves"] if device == "amd" else ["dg2 simd", "registers", "spilled bytes", "pvc simd", "registers", "spilled bytes"]
        print(f"\n## opencl -device={device}\n\n| network | task | by | kernel | blocks | threads | shared bytes | " + " | ".join(heads) + " |\n" + "|---" * (7 + len(heads)) + "|")
        for network in NETWORKS:
            if arguments.only and not any(part in network for part in arguments.only):
                continue
            folder = os.path.join(work, f"{network}-{device}")
            subprocess.run([os.path.join(arguments.bin, "..", "tests", "network_texts"), folder, network, f"opencl -device={device}"], check=True)
            rows, said = list(csv.DictReader(open(os.path.join(folder, "tasks.csv")), delimiter="|")), {}
            for row in rows:
                path = os.path.join(folder, row["file"])
                if row["file"] not in said:
                    said[row["file"]] = [amd(path, arguments.libraries)] if device == "amd" else [intel(path, "dg2", folder), intel(path, "pvc", folder)]
                columns = []
                for of in said[row["file"]]:
                    one = of[row["kernel"]]
                    columns += [one["registers"], one["spills"], one["waves"]] if device == "amd" else [one["simd"], one["registers"], one["spills"]]
                print(f"| {network} | {row['task']} | {row['sketch'].split(':', 1)[1]} | {row['kernel'].rsplit('_', 1)[1]} | {row['blocks']} | {row['threads']} | {row['shared']} | "
                      + " | ".join(map(str, columns)) + " |", flush=True)
