#include "core/support/this_machine.h"

#include <unistd.h>

#include <array>
#include <fstream>

namespace lathe {

std::string bootId()
{
    std::ifstream file("/proc/sys/kernel/random/boot_id"); // proc(5)
    std::string id;
    std::getline(file, id);
    return id;
}

std::string hostName()
{
    std::array<char, 256> name = {};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : std::string();
}

} // namespace lathe
