#pragma once

#include "core/schedule/lower.h"

namespace lathe::test {

/// Convolution of stride 1 with padding (kernel - 1) / 2, scheduled by hand: NCHW16c activations [C/16][H][W][16],
/// weights [OC/(16 vectors)][C/16][KH][KW][16][16 vectors], a tile of `pixels` x `vectors` vectors in registers,
/// borders by tiles of their own. 64 bytes a vector.
struct ConvolutionShape
{
    int channels = 64;
    int outChannels = 64;
    int height = 56;
    int width = 56;
    int kernel = 3;
    int pixels = 14;
    int vectors = 2;
    int channelUnroll = 4; ///< of the 16 input channels of a block; 16 unrolls all
    int lanes = 16;
    bool prefetchInput = false; ///< the next tile's, while this one is computed: worth it where the input comes from L3
    double flop() const { return 2.0 * channels * outChannels * height * width * kernel * kernel; }
};
schedule::LoweredKernel convolution(const ConvolutionShape& shape);

/// Nothing but multiply-adds on registers: `chains` accumulators, `steps` times. Parameters: x[lanes], y[chains *
/// lanes].
schedule::LoweredKernel peakLoop(int chains, int lanes, int steps);

} // namespace lathe::test
