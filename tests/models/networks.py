#!/usr/bin/env python3
"""Networks as people export them from PyTorch: made with random weights, compiled by lathe-cli, and compared with onnxruntime's
results. By hand only; needs torch, torchvision, onnx, onnxscript, onnxruntime, numpy, and for the
encoders of text transformers.

    networks.py --lathe-cli build/ci/bin/lathe-cli --folder FOLDER [--exporter new|old] [--batch N] [--size N] [--half] [--tune SECONDS] [NAME...]

The old exporter writes opset 17, the new one what it prefers. With --batch the batch is left open in the file, which is then
compiled for N samples and compared with N results of one sample each. With --size height and width (or the number of tokens)
are open too and set with --shape; networks that are made for one size cannot have that. With --half weights, inputs and outputs
are half floats, and the network in float32 is what is compared with, to what half floats hold. With --tune each network is tuned
so long first, in a project that is made anew, and every task must have a measured program; without it default schedules serve.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings

warnings.filterwarnings("ignore")
TOLERANCE = 1e-4
HALF_TOLERANCE = 1e-2
OLD_OPSET = 17

# name here -> constructor in torchvision.models, side of the input image
IMAGE_NETWORKS = {
    "resnet-18": ("resnet18", 224), "mobilenet-v2": ("mobilenet_v2", 224), "mobilenet-v3": ("mobilenet_v3_large", 224),
    "squeezenet-1.1": ("squeezenet1_1", 224), "inception-v3": ("inception_v3", 299), "vgg-11": ("vgg11", 224),
    "densenet-121": ("densenet121", 224), "efficientnet-b0": ("efficientnet_b0", 224),
    "shufflenet-v2": ("shufflenet_v2_x1_0", 224), "mnasnet": ("mnasnet1_0", 224), "regnet": ("regnet_y_400mf", 224),
    "convnext": ("convnext_tiny", 224), "vit-b16": ("vit_b_16", 224), "swin": ("swin_t", 224),
}

TEXT_ENCODERS = ["bert", "distilbert"]


def unet(torch):
    """A small U-Net that widens with transposed convolutions."""
    nn = torch.nn

    def block(before, after):
        return nn.Sequential(nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(),
                             nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU())

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            widths = [16, 32, 64, 128]
            self.down = nn.ModuleList(block(a, b) for a, b in zip([3] + widths, widths))
            self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, stride=2) for w in reversed(widths[:-1]))
            self.join = nn.ModuleList(block(2 * w, w) for w in reversed(widths[:-1]))
            self.head = nn.Conv2d(widths[0], 2, 1)

        def forward(self, x):
            kept = []
            for i, down in enumerate(self.down):
                x = down(x if i == 0 else nn.functional.max_pool2d(x, 2))
                kept.append(x)
            for up, join, side in zip(self.up, self.join, reversed(kept[:-1])):
                x = join(torch.cat([up(x), side], 1))
            return self.head(x)

    return UNet()


def text_encoder(torch, name):
    import transformers

    size = dict(vocab_size=1000, attn_implementation="eager")
    if name == "bert":
        model = transformers.BertModel(transformers.BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
                                                               intermediate_size=1024, **size))
    else:
        model = transformers.DistilBertModel(transformers.DistilBertConfig(dim=256, n_layers=4, n_heads=4, hidden_dim=1024, **size))

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, tokens, mask):
            return self.model(tokens, attention_mask=mask).last_hidden_state

    return Encoder()


def make(torch, name, size):
    """Module and example inputs by name. Each is as it would be alone, whatever was made before."""
    torch.manual_seed(0)
    image = lambda side: {"input": torch.randn(1, 3, size or side, size or side)}
    if name in IMAGE_NETWORKS:
        import torchvision

        constructor, side = IMAGE_NETWORKS[name]
        options = {"init_weights": True} if constructor == "inception_v3" else {}
        model, inputs = getattr(torchvision.models, constructor)(weights=None, **options), image(side)
    elif name == "deit":
        from torchvision.models.vision_transformer import VisionTransformer

        model, inputs = VisionTransformer(224, 16, num_layers=12, num_heads=3, hidden_dim=192, mlp_dim=768), image(224)
    elif name == "u-net":
        model, inputs = unet(torch), image(128)
    else:
        length = size or 64
        mask = torch.ones(1, length, dtype=torch.int64)
        mask[0, 3 * length // 4:] = 0
        model, inputs = text_encoder(torch, name), {"tokens": torch.randint(0, 1000, (1, length)), "mask": mask}
    torch.manual_seed(1)  # not what the inputs' size left
    for module in model.modules():  # norms of a fresh network are identities, and some heads begin as zeros
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.2, 0.2)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            torch.nn.init.normal_(module.weight, std=0.02)
    return model.eval(), inputs


def export(torch, model, inputs, exporter, opened, file):
    """`opened`: dimensions of each input that are left open."""
    options = {"opset_version": OLD_OPSET} if exporter == "old" else {}
    names = {0: "batch", 1: "length", 2: "height", 3: "width"}
    if opened and exporter == "old":
        options["dynamic_axes"] = {**{key: {d: names[d] for d in opened} for key in inputs}, "output": {0: "batch"}}
    elif opened:
        options["dynamic_shapes"] = tuple({d: torch.export.Dim.DYNAMIC for d in opened} for _ in inputs)
        inputs = {key: torch.cat([value, value]) for key, value in inputs.items()}  # a batch of one would be taken as fixed
    torch.backends.mha.set_fastpath_enabled(False)  # an operator of PyTorch's own that the old exporter does not know
    with torch.no_grad():
        torch.onnx.export(model, tuple(inputs.values()), file + ".part", input_names=list(inputs), output_names=["output"],
                          dynamo=exporter == "new", external_data=False, verbose=False, **options)
    os.rename(file + ".part", file)


def check(name, exporter, arguments):
    import numpy
    import onnx
    import onnxruntime
    import torch

    model, inputs = make(torch, name, arguments.size)
    opened = []
    if arguments.batch > 1 or arguments.size:
        opened = [0] if not arguments.size else [0, 1] if name in TEXT_ENCODERS else [0, 2, 3]
    base = os.path.join(arguments.folder, "-".join([name, exporter] + (["open" + "".join(map(str, opened))] if opened else [])))
    if not os.path.exists(base + ".onnx"):
        export(torch, model, inputs, exporter, opened, base + ".onnx")
    opset = max(o.version for o in onnx.load(base + ".onnx", load_external_data=False).opset_import if o.domain in ("", "ai.onnx"))
    session = onnxruntime.InferenceSession(base + ".onnx", providers=["CPUExecutionProvider"])
    samples = [{i.name: inputs[i.name].numpy() for i in session.get_inputs()}]
    for _ in range(arguments.batch - 1):  # further samples: the one before, its other half in front
        samples.append({key: numpy.roll(value, value.shape[-1] // 2 + 1, -1) for key, value in samples[-1].items()})
    expected = numpy.concatenate([session.run(None, sample)[0] for sample in samples])
    arrays = {key: numpy.concatenate([sample[key] for sample in samples]) for key in samples[0]}
    tolerance = TOLERANCE
    if arguments.half:
        tolerance, base = HALF_TOLERANCE, base + "-half"
        floats = [key for key, value in inputs.items() if value.is_floating_point()]
        if not os.path.exists(base + ".onnx"):
            halves = {key: value.half() if key in floats else value for key, value in inputs.items()}
            export(torch, model.half(), halves, exporter, opened, base + ".onnx")
        arrays = {key: value.astype(numpy.float16) if key in floats else value for key, value in arrays.items()}
    sizes = []
    if arguments.size:
        for key, value in arrays.items():
            sizes += ["--shape", f"{key}={','.join(map(str, value.shape))}"]
    elif arguments.batch > 1:
        sizes = ["--batch", str(arguments.batch)]
    run = lambda *words: subprocess.run([arguments.lathe_cli, *words], capture_output=True, text=True)
    source = ["--allow-default"]
    if arguments.tune:
        source = ["--project", base + ".lathe"]
        for end in ["", "-wal", "-shm"]:
            if os.path.exists(base + ".lathe" + end):
                os.remove(base + ".lathe" + end)
        tuned = run("tune", base + ".onnx", *source, "--time", f"{arguments.tune}s", *sizes)
        if tuned.returncode != 0:
            return opset, 0, None, "not tuned: " + tuned.stderr.strip()[:300]
    began = time.time()
    compiled = run("compile", base + ".onnx", *source, "--no-verify", "--no-bench", "-o", base + ".so", *sizes)
    seconds = time.time() - began
    if compiled.returncode != 0:
        return opset, seconds, None, "refused: " + compiled.stderr.strip()[:300]
    words = []
    for key, value in arrays.items():
        numpy.save(f"{base}-{key}.npy", value)
        words += ["--input", f"{key}={base}-{key}.npy"]
    ran = run("run", base + ".so", *words, "--output", base + "-out")
    if ran.returncode != 0:
        return opset, seconds, None, "does not run: " + ran.stderr.strip()[:300]
    got = numpy.load(os.path.join(base + "-out", sorted(os.listdir(base + "-out"))[0]))
    error = float(numpy.abs(got.astype(numpy.float32) - expected).max() / numpy.abs(expected).max())
    return opset, seconds, error, "ok" if error <= tolerance else "WRONG"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lathe-cli", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--exporter", choices=["new", "old"], action="append")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--tune", type=int, default=0, metavar="SECONDS")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    names = arguments.names or [*IMAGE_NETWORKS, "deit", "u-net", *TEXT_ENCODERS]
    print(f"{'network':<16} {'exporter':<8} {'opset':>5} {'compile s':>9} {'rel. error':>10}  result", flush=True)
    bad = 0
    for name in names:
        for exporter in arguments.exporter or ["new", "old"]:
            try:
                opset, seconds, error, result = check(name, exporter, arguments)
            except Exception as problem:  # the exporter's or onnxruntime's own
                opset, seconds, error, result = 0, 0, None, f"not exported: {type(problem).__name__}: {str(problem).splitlines()[0][:200] if str(problem) else ''}"
            bad += result != "ok"
            shown = "-" if error is None else f"{error:.1e}"
            print(f"{name:<16} {exporter:<8} {opset or '-':>5} {seconds:>9.1f} {shown:>10}  {result}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
