#include "core/backend/source_scopes.h"

#include "core/support/check.h"

#include <fmt/format.h>

#include <utility>

namespace lathe::backend {

namespace {
constexpr std::string_view kPlace = "at_", kValue = "got_";
}

bool SourceScopes::isName(std::string_view name)
{
    return name.starts_with(kPlace) || name.starts_with(kValue);
}

void SourceScopes::begin()
{
    m_blocks.assign(1, {});
    m_places = m_loads = 0;
}

std::string SourceScopes::end()
{
    LATHE_DCHECK(m_blocks.size() == 1);
    writeBranch();
    return m_blocks.front().places + m_blocks.front().body;
}

void SourceScopes::append(std::string& text, std::size_t level, const std::string& line)
{
    text.append(4 * level, ' ');
    text += line;
    text += '\n';
}

void SourceScopes::open(Block block)
{
    writeBranch();
    m_blocks.push_back(std::move(block));
}

void SourceScopes::openBranch(const std::string& line, bool isFixed)
{
    const std::shared_ptr<Block> last = std::move(m_blocks.back().branch);
    if (last && isFixed && last->opening == line) {
        m_blocks.push_back(std::move(*last));
        return;
    }
    m_blocks.back().branch = last;
    open({line, {}, {}, {}, {}, nullptr, false, isFixed});
}

void SourceScopes::close()
{
    LATHE_DCHECK(m_blocks.size() > 1);
    writeBranch();
    auto block = std::make_shared<Block>(std::move(m_blocks.back()));
    m_blocks.pop_back();
    const bool mayGrow = block->isFixed;
    m_blocks.back().branch = std::move(block);
    if (!mayGrow)
        writeBranch();
}

void SourceScopes::otherwise()
{
    m_blocks.back().isFixed = false;
    writeBranch();
    const Block block = std::move(m_blocks.back());
    m_blocks.pop_back();
    std::string& outer = m_blocks.back().body;
    append(outer, level(), block.opening);
    outer += block.places + block.body;
    m_blocks.push_back({"} else {", {}, {}, {}, {}, nullptr, false, false});
}

void SourceScopes::writeBranch()
{
    const std::shared_ptr<Block> branch = std::move(m_blocks.back().branch);
    if (!branch)
        return;
    std::string& outer = m_blocks.back().body;
    append(outer, level(), branch->opening);
    outer += branch->places + branch->body;
    append(outer, level(), "}");
}

void SourceScopes::line(const std::string& text)
{
    writeBranch();
    append(m_blocks.back().body, level(), text);
}

std::string SourceScopes::place(std::size_t level, const std::string& text)
{
    Block& block = m_blocks[level - 1];
    const auto [known, isNew] = block.names.try_emplace(text);
    if (isNew) {
        known->second = fmt::format("{}{}", kPlace, m_places++);
        append(block.places, level, fmt::format("const int {} = {};", known->second, text));
    }
    return known->second;
}

std::string SourceScopes::value(const std::string& type, const std::string& text, const std::set<std::int32_t>& buffers)
{
    const std::string key = type + ' ' + text;
    for (std::size_t i = m_blocks.size(); i-- > 0;) {
        if (const auto known = m_blocks[i].values.find(key); known != m_blocks[i].values.end())
            return known->second.name;
        if (m_blocks[i].isLoop)
            break;
    }
    std::string name = fmt::format("{}{}", kValue, m_loads++);
    line(fmt::format("const {} {} = {};", type, name, text));
    m_blocks.back().values[key] = {name, buffers};
    return name;
}

void SourceScopes::nameValue(const std::string& type, const std::string& text, std::string name,
                             const std::set<std::int32_t>& buffers)
{
    m_blocks.back().values.try_emplace(type + ' ' + text, Value{std::move(name), buffers});
}

void SourceScopes::stored(std::int32_t buffer)
{
    for (Block& block : m_blocks)
        std::erase_if(block.values, [buffer](const auto& value) { return value.second.buffers.contains(buffer); });
}

void SourceScopes::forgetValues()
{
    for (Block& block : m_blocks)
        block.values.clear();
}

} // namespace lathe::backend
