#pragma once

#include "core/ir/loop_nest.h"

#include <functional>
#include <memory>

namespace lathe::test {

/// A statement in which `change` has been asked about each, the innermost first; where it gives null, the statement
/// goes. For bugs that are planted.
inline ir::Stmt changed(const ir::Stmt& s, const std::function<ir::Stmt(const ir::Stmt&)>& change)
{
    auto copy = std::make_shared<ir::StmtNode>(*s);
    for (ir::Stmt& inner : copy->body)
        if (inner)
            inner = changed(inner, change);
    return change(copy);
}

} // namespace lathe::test
