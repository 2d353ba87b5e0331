#include "core/support/boot_id.h"

#include <fstream>

namespace lathe {

std::string bootId()
{
    std::ifstream file("/proc/sys/kernel/random/boot_id"); // proc(5)
    std::string id;
    std::getline(file, id);
    return id;
}

} // namespace lathe
