#pragma once

#include "core/schedule/lower.h"
#include "core/support/result.h"
#include "plugins/sim/program.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lathe::sim {

/// Flattens loop nests into the arrays of program.h.
class ProgramWriter
{
public:
    ProgramWriter() { (void)addText({}); }

    /// `facts` says what does not follow from the nest. Errors: Unsupported, by name; what was added before stays.
    Result<> add(const schedule::LoweredKernel& lowered, const Kernel& facts);
    std::vector<std::byte> bytes() const;

private:
    Result<> addBuffers(const ir::LoopNest& nest);
    Result<std::int32_t> addNest(const ir::LoopNest& nest);
    Result<Launch> addLaunch(const ir::LoopNest& nest, const ir::Launch& launch);
    Result<std::int32_t> addStmt(const ir::StmtNode& s);
    Result<std::int32_t> addCopy(const ir::StmtNode& s, Node node);
    Result<std::int32_t> addExpr(const ir::Node& e);
    Result<std::vector<std::int32_t>> addAll(const std::vector<ir::Expr>& expressions);
    std::int32_t push(Node node, const std::vector<std::int32_t>& children);
    std::int32_t slot(const ir::Node* variable);
    std::uint32_t addText(std::string_view text);

    std::vector<Kernel> m_kernels;
    std::vector<Launch> m_launches;
    std::vector<Buffer> m_buffers;
    std::vector<Node> m_nodes;
    std::vector<std::int32_t> m_children;
    std::string m_texts;
    std::map<std::string, std::uint32_t, std::less<>> m_textPlaces;
    std::map<const ir::Node*, std::int32_t> m_slots;
    const ir::LoopNest* m_nest = nullptr;
};

} // namespace lathe::sim
