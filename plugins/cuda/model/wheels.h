#pragma once

#include <filesystem>
#include <string>

namespace lathe::cuda {

// NVIDIA's tools as packages of Python's registry ("nvidia-cuda-nvrtc"), each in a folder of its own in Lathe's data
// folder: installing into another folder than Python's works on systems that let nobody change theirs, as Debian 12.

/// Where wheelCommand() puts a package; empty where nobody's home folder is known.
std::filesystem::path wheelFolder(const std::string& package);
/// What a person types to install it so that it is found, "pip install --upgrade --target FOLDER PACKAGE"
/// (without --upgrade what lies there already stays).
std::string wheelCommand(const std::string& package);

} // namespace lathe::cuda
