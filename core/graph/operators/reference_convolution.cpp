// Plain evaluation of convolutions.
//
// The reference executor must run whole networks on one core without optimisation by the compiler, and share nothing
// with the generated kernels. It splits each padded slice of each channel into stride x stride phase planes (rows y
// with y mod stride equal, columns likewise). In a phase plane every tap of the kernel is a constant offset, so a whole
// output plane is a sum of shifted vectors: out[i] += weight * plane[i + offset], over long contiguous runs, in double.
// Columns past the output's width hold sums that nobody reads. Taps in depth choose other slices; an image is a volume
// of one.

#include "core/graph/operators/convolution.h"

#include <algorithm>

namespace lathe::graph::operators {
namespace {

/// One tap of the kernel on one slice of an input channel: where its vector starts, and its weight.
template<typename T>
struct Tap
{
    const T* values;
    T weight;
};

/// out[i] += sum over taps of weight * values[i]. Four taps at a time: a quarter of the loads and stores of `out`.
template<typename T>
void accumulate(std::vector<T>& out, const std::vector<Tap<T>>& taps)
{
    constexpr std::size_t kBlock = 2048; // numbers: 16 KiB of the first-level cache
    for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
        const std::size_t end = std::min(out.size(), begin + kBlock);
        T* const sum = out.data();
        std::size_t t = 0;
        for (; t + 4 <= taps.size(); t += 4) {
            const T* const v0 = taps[t].values;
            const T* const v1 = taps[t + 1].values;
            const T* const v2 = taps[t + 2].values;
            const T* const v3 = taps[t + 3].values;
            const T w0 = taps[t].weight, w1 = taps[t + 1].weight, w2 = taps[t + 2].weight, w3 = taps[t + 3].weight;
            for (std::size_t i = begin; i < end; ++i)
                sum[i] += (w0 * v0[i] + w1 * v1[i]) + (w2 * v2[i] + w3 * v3[i]);
        }
        for (; t < taps.size(); ++t) {
            for (std::size_t i = begin; i < end; ++i)
                sum[i] += taps[t].weight * taps[t].values[i];
        }
    }
}

std::int64_t divideUp(std::int64_t value, std::int64_t divisor)
{
    return (value + divisor - 1) / divisor;
}

/// Which residues modulo the stride the taps of one dimension read, and the place of each among the phase planes.
std::vector<std::int64_t> phasesOf(std::int64_t taps, std::int64_t dilation, std::int64_t stride)
{
    std::vector<std::int64_t> phases;
    for (std::int64_t k = 0; k < taps && static_cast<std::int64_t>(phases.size()) < stride; ++k) {
        const std::int64_t phase = k * dilation % stride;
        if (std::ranges::find(phases, phase) != phases.end())
            break; // residues repeat from here on
        phases.push_back(phase);
    }
    return phases;
}

/// One slice of a channel with the strides of its layout.
template<typename T>
struct Slice
{
    const T* values;
    std::int64_t strideY, strideX;
};

/// Copies the pixels whose padded row and column have the given residues; the padding stays zero.
template<typename T>
void fillPlane(const WindowSides& sides, Slice<T> slice, std::int64_t phaseY, std::int64_t phaseX, std::int64_t pitch,
               T* plane)
{
    const WindowSide& y = sides[1];
    const WindowSide& x = sides[2];
    for (std::int64_t row = divideUp(std::max<std::int64_t>(y.before - phaseY, 0), y.stride);
         row * y.stride + phaseY - y.before < y.in; ++row) {
        const T* const source = slice.values + (row * y.stride + phaseY - y.before) * slice.strideY;
        for (std::int64_t col = divideUp(std::max<std::int64_t>(x.before - phaseX, 0), x.stride);
             col * x.stride + phaseX - x.before < x.in; ++col)
            plane[row * pitch + col] = source[(col * x.stride + phaseX - x.before) * slice.strideX];
    }
}

/// The phase planes of all slices of the input channels of one group.
template<typename T>
class PhasePlanes
{
public:
    explicit PhasePlanes(const ConvolutionGeometry& g)
        : m_sides(g.sides)
        , m_phasesY(phasesOf(g.sides[1].size, g.sides[1].dilation, g.sides[1].stride))
        , m_phasesX(phasesOf(g.sides[2].size, g.sides[2].dilation, g.sides[2].stride))
    {
        // A phase plane covers all that the taps of valid outputs read, and the run past the last row's width.
        const auto cover = [](const WindowSide& s) {
            return std::max(divideUp(s.in + s.before + s.after, s.stride),
                            s.out + (s.size - 1) * s.dilation / s.stride);
        };
        m_pitch = cover(m_sides[2]);
        m_planeSize = m_pitch * cover(m_sides[1]);
        m_sliceSize = m_planeSize * static_cast<std::int64_t>(m_phasesY.size() * m_phasesX.size());
        m_values.resize(static_cast<std::size_t>(m_sliceSize * m_sides[0].in * (g.inChannels / g.groups)));
    }

    std::int64_t pitch() const { return m_pitch; }
    std::int64_t run() const { return (m_sides[1].out - 1) * m_pitch + m_sides[2].out; }

    void clear() { std::ranges::fill(m_values, T{0}); }

    /// `channel` counts within the group.
    void fill(std::int64_t channel, std::int64_t depth, Slice<T> slice)
    {
        T* plane = m_values.data() + (channel * m_sides[0].in + depth) * m_sliceSize;
        for (const std::int64_t phaseY : m_phasesY) {
            for (const std::int64_t phaseX : m_phasesX) {
                fillPlane(m_sides, slice, phaseY, phaseX, m_pitch, plane);
                plane += m_planeSize;
            }
        }
    }

    /// Where the vector of a tap starts.
    const T* tap(std::int64_t channel, std::int64_t depth, std::int64_t ky, std::int64_t kx) const
    {
        const auto countY = static_cast<std::int64_t>(m_phasesY.size()),
                   countX = static_cast<std::int64_t>(m_phasesX.size());
        const std::int64_t dy = ky * m_sides[1].dilation, dx = kx * m_sides[2].dilation;
        const std::int64_t phase = ky % countY * countX + kx % countX;
        return m_values.data() + (channel * m_sides[0].in + depth) * m_sliceSize + phase * m_planeSize
               + dy / m_sides[1].stride * m_pitch + dx / m_sides[2].stride;
    }

private:
    const WindowSides m_sides;
    const std::vector<std::int64_t> m_phasesY, m_phasesX;
    std::int64_t m_pitch = 0, m_planeSize = 0, m_sliceSize = 0;
    std::vector<T> m_values;
};

/// Elements between neighbouring taps of the kernel; 0 for a depth that is not there.
std::array<std::int64_t, 3> tapSteps(const ConvolutionGeometry& g, std::span<const std::int64_t> weightStrides)
{
    std::array<std::int64_t, 3> steps{};
    for (std::size_t side = 3 - g.data.dims; side < 3; ++side)
        steps[side] = weightStrides[g.kernel.taps[side]];
    return steps;
}

/// What there is to work on. Strides are elements between neighbours, by dimension of the tensor; steps likewise in
/// depth, height and width.
template<typename T>
struct Operands
{
    ConvolutionGeometry geometry;
    std::vector<std::int64_t> dataStrides, weightStrides, outStrides;
    std::array<std::int64_t, 3> dataSteps, outSteps, kernelSteps;
    std::vector<T> image, kernel;
    std::int64_t groupIn, groupOut; ///< channels of one group

    static Result<Operands> read(const Node& node, std::span<const HostTensor* const> inputs,
                                 std::span<const HostTensor> outputs, std::size_t dims, bool transposed)
    {
        const HostTensor& data = *inputs[0];
        const HostTensor& weight = *inputs[1];
        LATHE_TRY_ASSIGN(ConvolutionGeometry g, convolutionGeometry(node, data.type, weight.type, dims, transposed));
        const auto dataStrides = denseStrides(data.type.shape), weightStrides = denseStrides(weight.type.shape),
                   outStrides = denseStrides(outputs[0].type.shape);
        return Operands{g,
                        dataStrides,
                        weightStrides,
                        outStrides,
                        g.data.steps(dataStrides),
                        g.data.steps(outStrides),
                        tapSteps(g, weightStrides),
                        readNumbers<T>(data),
                        readNumbers<T>(weight),
                        g.inChannels / g.groups,
                        g.outChannels / g.groups};
    }
};

template<std::size_t Dims, typename T>
Result<> convolve(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const Operands<T> operands, Operands<T>::read(node, inputs, outputs, Dims, false));
    const auto& [g, dataStrides, weightStrides, outStrides, dataSteps, outSteps, kernelSteps, image, kernel, groupIn,
                 groupOut] = operands;
    const auto& [depth, height, width] = g.sides;

    PhasePlanes<T> planes(g);
    std::vector<T> sums(static_cast<std::size_t>(planes.run()));
    std::vector<Tap<T>> taps;
    const auto collectTaps = [&](std::int64_t o, std::int64_t z) {
        taps.clear();
        for (std::int64_t c = 0; c < groupIn; ++c) {
            const std::int64_t filter = o * weightStrides[g.kernel.o] + c * weightStrides[g.kernel.i];
            for (std::int64_t kz = 0; kz < depth.size; ++kz) {
                const std::int64_t slice = z * depth.stride - depth.before + kz * depth.dilation;
                if (slice < 0 || slice >= depth.in)
                    continue;
                for (std::int64_t ky = 0; ky < height.size; ++ky) {
                    for (std::int64_t kx = 0; kx < width.size; ++kx)
                        taps.push_back(
                            {planes.tap(c, slice, ky, kx),
                             kernel[filter + kz * kernelSteps[0] + ky * kernelSteps[1] + kx * kernelSteps[2]]});
                }
            }
        }
    };
    for (std::int64_t n = 0; n < g.batch; ++n) {
        for (std::int64_t group = 0; group < g.groups; ++group) {
            planes.clear();
            for (std::int64_t c = 0; c < groupIn; ++c) {
                const std::int64_t channel = n * dataStrides[g.data.n] + (group * groupIn + c) * dataStrides[g.data.c];
                for (std::int64_t z = 0; z < depth.in; ++z)
                    planes.fill(c, z, {image.data() + channel + z * dataSteps[0], dataSteps[1], dataSteps[2]});
            }
            for (std::int64_t o = group * groupOut; o < (group + 1) * groupOut; ++o) {
                for (std::int64_t z = 0; z < depth.out; ++z) {
                    collectTaps(o, z);
                    std::ranges::fill(sums, T{0});
                    accumulate(sums, taps);
                    const std::int64_t base = n * outStrides[g.data.n] + o * outStrides[g.data.c] + z * outSteps[0];
                    for (std::int64_t y = 0; y < height.out; ++y) {
                        for (std::int64_t x = 0; x < width.out; ++x)
                            writeNumber(outputs[0].bytes.data(), g.outType, base + y * outSteps[1] + x * outSteps[2],
                                        sums[static_cast<std::size_t>(y * planes.pitch() + x)]);
                    }
                }
            }
        }
    }
    return {};
}

/// Scatters each input pixel times the kernel into the output.
template<std::size_t Dims, typename T>
Result<> convolveTransposed(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    LATHE_TRY_ASSIGN(const Operands<T> operands, Operands<T>::read(node, inputs, outputs, Dims, true));
    const auto& [g, dataStrides, weightStrides, outStrides, dataSteps, outSteps, kernelSteps, image, kernel, groupIn,
                 groupOut] = operands;
    const auto& [depth, height, width] = g.sides;
    std::vector<T> volume(static_cast<std::size_t>(depth.out * height.out * width.out));

    const auto place = [](const WindowSide& s, std::int64_t in, std::int64_t tap) {
        return in * s.stride - s.before + tap * s.dilation;
    };
    const auto inside = [](const WindowSide& s, std::int64_t at) { return at >= 0 && at < s.out; };
    const auto scatterRow = [&](const T* source, const T* taps, T* target) {
        for (std::int64_t ix = 0; ix < width.in; ++ix) {
            const T value = source[ix * dataSteps[2]];
            for (std::int64_t kx = 0; kx < width.size; ++kx) {
                if (const std::int64_t x = place(width, ix, kx); inside(width, x))
                    target[x] += value * taps[kx * kernelSteps[2]];
            }
        }
    };
    const auto scatterSlice = [&](const T* source, const T* taps, T* target) {
        for (std::int64_t iy = 0; iy < height.in; ++iy) {
            for (std::int64_t ky = 0; ky < height.size; ++ky) {
                if (const std::int64_t y = place(height, iy, ky); inside(height, y))
                    scatterRow(source + iy * dataSteps[1], taps + ky * kernelSteps[1], target + y * width.out);
            }
        }
    };
    for (std::int64_t n = 0; n < g.batch; ++n) {
        for (std::int64_t o = 0; o < g.outChannels; ++o) {
            std::ranges::fill(volume, T{0});
            const std::int64_t group = o / groupOut;
            for (std::int64_t c = group * groupIn; c < (group + 1) * groupIn; ++c) {
                const T* const taps = kernel.data() + c * weightStrides[g.kernel.i]
                                      + o % groupOut * weightStrides[g.kernel.o];
                const T* const channel = image.data() + n * dataStrides[g.data.n] + c * dataStrides[g.data.c];
                for (std::int64_t iz = 0; iz < depth.in; ++iz) {
                    for (std::int64_t kz = 0; kz < depth.size; ++kz) {
                        if (const std::int64_t z = place(depth, iz, kz); inside(depth, z))
                            scatterSlice(channel + iz * dataSteps[0], taps + kz * kernelSteps[0],
                                         volume.data() + z * height.out * width.out);
                    }
                }
            }
            const std::int64_t base = n * outStrides[g.data.n] + o * outStrides[g.data.c];
            const T* value = volume.data();
            for (std::int64_t z = 0; z < depth.out; ++z) {
                for (std::int64_t y = 0; y < height.out; ++y) {
                    for (std::int64_t x = 0; x < width.out; ++x)
                        writeNumber(outputs[0].bytes.data(), g.outType,
                                    base + z * outSteps[0] + y * outSteps[1] + x * outSteps[2], *value++);
                }
            }
        }
    }
    return {};
}

} // namespace

template<std::size_t Dims>
Result<> evaluateConvolution(const Node& node, std::span<const HostTensor* const> inputs, std::span<HostTensor> outputs)
{
    return isFloat(inputs[0]->type.dtype) ? convolve<Dims, double>(node, inputs, outputs)
                                          : convolve<Dims, Wrapping>(node, inputs, outputs);
}

template<std::size_t Dims>
Result<> evaluateTransposedConvolution(const Node& node, std::span<const HostTensor* const> inputs,
                                       std::span<HostTensor> outputs)
{
    return isFloat(inputs[0]->type.dtype) ? convolveTransposed<Dims, double>(node, inputs, outputs)
                                          : convolveTransposed<Dims, Wrapping>(node, inputs, outputs);
}

template Result<> evaluateConvolution<2>(const Node&, std::span<const HostTensor* const>, std::span<HostTensor>);
template Result<> evaluateConvolution<3>(const Node&, std::span<const HostTensor* const>, std::span<HostTensor>);
template Result<> evaluateTransposedConvolution<2>(const Node&, std::span<const HostTensor* const>,
                                                   std::span<HostTensor>);
template Result<> evaluateTransposedConvolution<3>(const Node&, std::span<const HostTensor* const>,
                                                   std::span<HostTensor>);

} // namespace lathe::graph::operators
