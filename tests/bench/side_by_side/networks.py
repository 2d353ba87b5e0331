"""The networks that are compared: torchvision's structures with seeded weights, exported as ONNX."""

import os

# name here -> constructor in torchvision.models, side of the input image
NETWORKS = {
    "resnet-18": ("resnet18", 224),
    "resnet-50": ("resnet50", 224),
    "mobilenet-v2": ("mobilenet_v2", 224),
    "squeezenet-1.1": ("squeezenet1_1", 224),
    "inception-v3": ("inception_v3", 299),
    "vgg-16": ("vgg16", 224),
    "densenet-121": ("densenet121", 224),
    "efficientnet-b0": ("efficientnet_b0", 224),
    "shufflenet-v2": ("shufflenet_v2_x1_0", 224),
    "vit-b16": ("vit_b_16", 224),
}


def torch_model(name):
    """The network in evaluation mode; the same weights each time."""
    import torch
    import torchvision

    torch.manual_seed(0)
    constructor, _ = NETWORKS[name]
    options = {"init_weights": True} if constructor == "inception_v3" else {}
    model = getattr(torchvision.models, constructor)(weights=None, **options).eval()
    # Batch norms of a fresh network are identities: give them statistics as training would.
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.2, 0.2)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.uniform_(module.bias, -0.2, 0.2)
    if name == "vit-b16":  # its head begins as zeros
        torch.nn.init.normal_(model.heads[-1].weight, std=0.02)
    return model


def input_shape(name):
    side = NETWORKS[name][1]
    return (1, 3, side, side)


def onnx_file(name, folder):
    """Path of the exported network; exports it if it is not there."""
    import torch

    path = os.path.join(folder, f"{name}.onnx")
    if not os.path.exists(path):
        torch.onnx.export(torch_model(name), (torch.randn(input_shape(name)),), path + ".part.onnx",
                          input_names=["input"], output_names=["output"], external_data=False)
        os.rename(path + ".part.onnx", path)
    return path
