#include "core/search/sketch.h"

namespace lathe::search {

Hash128 Sketch::identity(const Genome& genome) const
{
    std::string bytes = m_name;
    bytes += '\0';
    for (const std::int32_t gene : settled(genome))
        for (int i = 0; i < 4; ++i)
            bytes += static_cast<char>(static_cast<std::uint32_t>(gene) >> (8 * i) & 0xff);
    return contentHash(bytes);
}

std::string Sketch::describe(std::size_t index, std::int32_t gene) const
{
    if (index >= m_parameters.size() || gene < 0 || gene >= m_parameters[index].count)
        return "?";
    const Parameter& parameter = m_parameters[index];
    if (parameter.kind == Parameter::Kind::Tile && parameter.tuples) {
        std::string text;
        for (const std::int64_t length : parameter.tuples->tuple(gene))
            text += (text.empty() ? "" : "x") + std::to_string(length);
        return text;
    }
    if (parameter.kind == Parameter::Kind::Choice && static_cast<std::size_t>(gene) < parameter.values.size())
        return std::to_string(parameter.values[static_cast<std::size_t>(gene)]);
    return std::to_string(gene);
}

Result<> Sketch::check(const Genome& genome) const
{
    if (genome.size() != m_parameters.size())
        return makeError(Errc::InvalidArgument, "sketch " + m_name + " has " + std::to_string(m_parameters.size())
                                                    + " parameters, the genome " + std::to_string(genome.size()));
    for (std::size_t i = 0; i < genome.size(); ++i)
        if (genome[i] < 0 || genome[i] >= m_parameters[i].count)
            return makeError(Errc::InvalidArgument, "gene " + std::to_string(i) + " (" + m_parameters[i].name
                                                        + ") of sketch " + m_name + " is " + std::to_string(genome[i])
                                                        + ", not in [0, " + std::to_string(m_parameters[i].count)
                                                        + ")");
    return {};
}

} // namespace lathe::search
