#pragma once

#include "core/support/random.h"
#include "layout_fixture.h"

namespace lathe::test::layouts {

/// A network of convolutions, sums in their epilogues and sums of pools, with the objective written down once more: by
/// hand, from the rules alone.
class RandomNetwork
{
public:
    explicit RandomNetwork(std::uint64_t seed)
        : m_random(seed)
    {
        m_steps.push_back({Step::Input});
        const std::size_t convolutions = 2 + m_random.below(5);
        while (m_convolutions < convolutions) {
            const std::size_t last = m_steps.size() - 1;
            Step step;
            // What two read is no epilogue of the convolution that gave it, so that it is clear who takes the sum.
            if (last >= 2 && m_random.below(3) == 0)
                step = {Step::Residual, last, m_random.below(last)};
            else if (last >= 1 && m_random.below(3) == 0)
                step = {Step::Sum, m_random.below(last), last};
            else
                step = {Step::Convolution, m_random.below(4) == 0 ? m_random.below(last + 1) : last};
            if (step.kind == Step::Sum && m_random.below(2) == 0)
                std::swap(step.from, step.with);
            if (step.kind == Step::Residual && !m_steps[step.with].convolved)
                continue;
            m_steps[step.from].convolved = m_steps[step.from].convolved || step.kind != Step::Sum;
            m_steps[step.from].read = true;
            if (step.kind != Step::Convolution)
                m_steps[step.with].read = true;
            if (step.kind != Step::Sum) {
                step.convolution = m_convolutions++;
                m_candidates.push_back(randomCandidates());
            }
            m_steps.push_back(step);
        }
        for (auto& row : m_conversions) {
            for (double& seconds : row)
                seconds = static_cast<double>(1 + m_random.below(15));
        }
    }

    LayoutProblem problem() const
    {
        GraphMaker m;
        std::vector<ValueId> values;
        std::map<std::string, std::vector<LayoutCandidate>> byName;
        const auto pool = [&](ValueId x, std::size_t step, const char* side) {
            return m.node("pool" + std::to_string(step) + side, "max_pool2d", {x},
                          {{"pool_size", Shape{3, 3}},
                           {"strides", Shape{1, 1}},
                           {"padding", Shape{1, 1, 1, 1}},
                           {"layout", std::string("NCHW")},
                           {"ceil_mode", std::int64_t{0}}});
        };
        for (std::size_t s = 0; s < m_steps.size(); ++s) {
            const Step& step = m_steps[s];
            const std::string name = "s" + std::to_string(s);
            if (step.kind == Step::Input) {
                values.push_back(m.input("x", {1, 8, 4, 4}));
            } else if (step.kind == Step::Sum) {
                const ValueId left = pool(values[step.from], s, "l"), right = pool(values[step.with], s, "r");
                values.push_back(m.node(name, "add", {left, right}));
            } else {
                ValueId value = m.conv(name, values[step.from], {8, 8, 3, 3});
                if (step.kind == Step::Residual)
                    value = m.node(name + "_add", "add", {value, values[step.with]});
                values.push_back(value);
                byName[step.kind == Step::Residual ? name + "+add" : name] = m_candidates[step.convolution];
            }
        }
        std::vector<ValueId> outputs;
        for (std::size_t s = 1; s < m_steps.size(); ++s) {
            if (!m_steps[s].read)
                outputs.push_back(values[s]);
        }
        return problemOf(m.finish(outputs), byName, [this](const Conversion& c) { return cost(c.from, c.to); });
    }

    /// The least, if the result of convolution `pinned` is in this layout.
    double bruteForce(std::size_t pinned = SIZE_MAX, const Layout& pin = {}) const
    {
        double best = kNever;
        std::vector<std::size_t> choices(m_convolutions, 0);
        for (;;) {
            if (pinned == SIZE_MAX || m_candidates[pinned][choices[pinned]].output == pin)
                best = std::min(best, seconds(choices));
            std::size_t c = 0;
            while (c < choices.size() && ++choices[c] == m_candidates[c].size())
                choices[c++] = 0;
            if (c == choices.size())
                return best;
        }
    }

    const std::vector<std::vector<LayoutCandidate>>& candidates() const { return m_candidates; }
    int sums() const
    {
        return static_cast<int>(std::ranges::count_if(m_steps, [](const Step& s) { return s.kind == Step::Sum; }));
    }

private:
    struct Step
    {
        enum Kind
        {
            Input,
            Convolution,
            Residual, ///< a convolution to whose result something is added
            Sum ///< of two pools
        };
        Kind kind = Input;
        std::size_t from = 0, with = 0;
        std::size_t convolution = 0;
        bool read = false, convolved = false; ///< by anybody; by a convolution
    };

    static constexpr const char* kLayouts[] = {"NCHW", "NCHW4c", "NCHW8c", "NHWC"};

    std::vector<LayoutCandidate> randomCandidates()
    {
        std::vector<LayoutCandidate> result;
        for (std::size_t count = 1 + m_random.below(4); count > 0; --count)
            result.push_back(candidate(kLayouts[m_random.below(4)], kLayouts[m_random.below(4)],
                                       static_cast<double>(m_random.below(20))));
        return result;
    }

    double cost(const Layout& from, const Layout& to) const
    {
        const auto index = [](const Layout& l) { return std::ranges::find(kLayouts, l.text()) - kLayouts; };
        return from == to ? 0 : m_conversions[index(from)][index(to)];
    }

    double seconds(const std::vector<std::size_t>& choices) const
    {
        const Layout plain = layout("NCHW");
        std::vector<Layout> layouts;
        std::vector<bool> chosen; // whether a choice stands behind it: else it is a boundary
        double sum = 0;
        for (const Step& step : m_steps) {
            if (step.kind == Step::Input) {
                layouts.push_back(plain);
                chosen.push_back(false);
            } else if (step.kind == Step::Sum) {
                const std::size_t leader = chosen[step.from] ? step.from : step.with;
                const std::size_t other = leader == step.from ? step.with : step.from;
                if (chosen[leader])
                    sum += cost(layouts[other], layouts[leader]);
                layouts.push_back(layouts[leader]);
                chosen.push_back(chosen[leader]);
            } else {
                const LayoutCandidate& c = m_candidates[step.convolution][choices[step.convolution]];
                sum += c.seconds + cost(layouts[step.from], c.input);
                if (step.kind == Step::Residual)
                    sum += cost(layouts[step.with], c.output);
                layouts.push_back(c.output);
                chosen.push_back(true);
            }
        }
        for (std::size_t s = 1; s < m_steps.size(); ++s)
            sum += m_steps[s].read ? 0 : cost(layouts[s], plain);
        return sum;
    }

    Random m_random;
    std::vector<Step> m_steps;
    std::size_t m_convolutions = 0;
    std::vector<std::vector<LayoutCandidate>> m_candidates; ///< by convolution, in the order of the network
    double m_conversions[4][4] = {};
};

} // namespace lathe::test::layouts
