#pragma once

#include <dlfcn.h>

#include <string>

/// A function of another plugin in the folder in which the shared object with `here` lies; null: it is not there.
inline void* entryBeside(const void* here, const char* file, const char* entry)
{
    Dl_info info = {};
    if (::dladdr(here, &info) == 0)
        return nullptr;
    const std::string own = info.dli_fname;
    void* library = ::dlopen((own.substr(0, own.rfind('/') + 1) + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    return library != nullptr ? ::dlsym(library, entry) : nullptr;
}
