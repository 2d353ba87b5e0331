#include "plugins/cuda/device/driver.h"

namespace lathe::cuda {

const Driver* openDriver(std::string& problem)
{
    const char* why = "";
    const Driver* const driver = openDriver(why);
    problem = why;
    return driver;
}

std::string versionText(int version)
{
    return versionName(version).text;
}

std::string errorText(const Driver& driver, int code)
{
    return errorName(driver, code).text;
}

} // namespace lathe::cuda
