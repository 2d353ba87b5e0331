#include "core/frontend/zoo.h"
#include "core/session/session.h"

namespace lathe::session {

std::vector<ZooView> listZoo()
{
    std::vector<ZooView> views;
    for (const frontend::ZooEntry& entry : frontend::zooList())
        views.push_back({entry.name, entry.description, entry.layouts});
    return views;
}

} // namespace lathe::session
