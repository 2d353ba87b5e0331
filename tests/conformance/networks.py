#!/usr/bin/env python3
"""Networks as people export them from PyTorch: made with random weights, compiled by lathe-cli without tuning, and compared
with onnxruntime's results. By hand only; needs torch, torchvision, onnx, onnxscript, onnxruntime, numpy, and for the
encoders of text transformers.

    networks.py --lathe-cli build/ci/bin/lathe-cli --folder FOLDER [--exporter new|old] [--batch N] [NAME...]

The old exporter writes opset 17, the new one what it prefers. With --batch the file, exported for one sample, is compiled for
N of them and compared with N results of one sample each.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings

warnings.filterwarnings("ignore")
TOLERANCE = 1e-4
OLD_OPSET = 17

# name here -> constructor in torchvision.models, side of the input image
IMAGE_NETWORKS = {
    "resnet-18": ("resnet18", 224), "mobilenet-v2": ("mobilenet_v2", 224), "mobilenet-v3": ("mobilenet_v3_large", 224),
    "squeezenet-1.1": ("squeezenet1_1", 224), "inception-v3": ("inception_v3", 299), "vgg-11": ("vgg11", 224),
    "densenet-121": ("densenet121", 224), "efficientnet-b0": ("efficientnet_b0", 224),
    "shufflenet-v2": ("shufflenet_v2_x1_0", 224), "mnasnet": ("mnasnet1_0", 224), "regnet": ("regnet_y_400mf", 224),
    "convnext": ("convnext_tiny", 224), "vit-b16": ("vit_b_16", 224), "swin": ("swin_t", 224),
}


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


def make(torch, name):
    """Module and example inputs by name."""
    torch.manual_seed(0)
    image = lambda side: {"input": torch.randn(1, 3, side, side)}
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
        mask = torch.ones(1, 64, dtype=torch.int64)
        mask[0, 48:] = 0
        model, inputs = text_encoder(torch, name), {"tokens": torch.randint(0, 1000, (1, 64)), "mask": mask}
    for module in model.modules():  # norms of a fresh network are identities, and some heads begin as zeros
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.2, 0.2)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
        if isinstance(module, torch.nn.Linear) and not module.weight.any():
            torch.nn.init.normal_(module.weight, std=0.02)
    return model.eval(), inputs


def check(name, exporter, arguments):
    import numpy
    import onnx
    import onnxruntime
    import torch

    model, inputs = make(torch, name)
    base = os.path.join(arguments.folder, f"{name}-{exporter}")
    if not os.path.exists(base + ".onnx"):
        with torch.no_grad():
            torch.onnx.export(model, tuple(inputs.values()), base + ".part.onnx", input_names=list(inputs), output_names=["output"],
                              dynamo=exporter == "new", external_data=False, verbose=False,
                              opset_version=OLD_OPSET if exporter == "old" else None)
        os.rename(base + ".part.onnx", base + ".onnx")
    opset = max(o.version for o in onnx.load(base + ".onnx", load_external_data=False).opset_import if o.domain in ("", "ai.onnx"))
    session = onnxruntime.InferenceSession(base + ".onnx", providers=["CPUExecutionProvider"])
    samples = [{i.name: inputs[i.name].numpy() for i in session.get_inputs()}]
    for _ in range(arguments.batch - 1):  # further samples: the first one, turned over
        samples.append({key: numpy.flip(value, -1).copy() for key, value in samples[-1].items()})
    expected = numpy.concatenate([session.run(None, sample)[0] for sample in samples])
    arrays = {key: numpy.concatenate([sample[key] for sample in samples]) for key in samples[0]}
    run = lambda *words: subprocess.run([arguments.lathe_cli, *words], capture_output=True, text=True)
    began = time.time()
    compiled = run("compile", base + ".onnx", "--allow-default", "-o", base + ".so", *(["--batch", str(arguments.batch)] if arguments.batch > 1 else []))
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
    error = float(numpy.abs(got - expected).max() / numpy.abs(expected).max())
    return opset, seconds, error, "ok" if error <= TOLERANCE else "WRONG"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lathe-cli", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--exporter", choices=["new", "old"], action="append")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    names = arguments.names or [*IMAGE_NETWORKS, "deit", "u-net", "bert", "distilbert"]
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
