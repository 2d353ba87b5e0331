#pragma once

// ONNX's published schema, compiled by protoc when Lathe is built. Only the .cpp files of this folder include it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#include "onnx/onnx.pb.h"
#pragma GCC diagnostic pop
