// NVRTC as far as its version goes: what it makes says by which it was made. Built once for each major version that
// LATHE_FAKE_MAJOR names.

#include <cstddef>
#include <cstring>

namespace {

#define LATHE_TEXT_OF(word) #word
#define LATHE_TEXT(word) LATHE_TEXT_OF(word)

const char kMade[] = "// by NVRTC " LATHE_TEXT(LATHE_FAKE_MAJOR) "\n";
int program;

} // namespace

#define LATHE_FUNCTION extern "C" __attribute__((visibility("default")))

LATHE_FUNCTION int nvrtcVersion(int* major, int* minor)
{
    *major = LATHE_FAKE_MAJOR;
    *minor = 0;
    return 0;
}
LATHE_FUNCTION int nvrtcGetNumSupportedArchs(int* count)
{
    *count = 1;
    return 0;
}
LATHE_FUNCTION int nvrtcGetSupportedArchs(int* capabilities)
{
    capabilities[0] = 90;
    return 0;
}
LATHE_FUNCTION int nvrtcCreateProgram(void** made, const char*, const char*, int, const char* const*,
                                      const char* const*)
{
    *made = &program;
    return 0;
}
LATHE_FUNCTION int nvrtcDestroyProgram(void**)
{
    return 0;
}
LATHE_FUNCTION int nvrtcCompileProgram(void*, int, const char* const*)
{
    return 0;
}
LATHE_FUNCTION int nvrtcGetProgramLogSize(void*, std::size_t* bytes)
{
    *bytes = 0;
    return 0;
}
LATHE_FUNCTION int nvrtcGetProgramLog(void*, char*)
{
    return 0;
}
LATHE_FUNCTION int nvrtcGetPTXSize(void*, std::size_t* bytes)
{
    *bytes = sizeof kMade;
    return 0;
}
LATHE_FUNCTION int nvrtcGetPTX(void*, char* text)
{
    std::memcpy(text, kMade, sizeof kMade);
    return 0;
}
LATHE_FUNCTION int nvrtcGetCUBINSize(void*, std::size_t* bytes)
{
    *bytes = 0;
    return 0;
}
LATHE_FUNCTION int nvrtcGetCUBIN(void*, char*)
{
    return 0;
}
LATHE_FUNCTION const char* nvrtcGetErrorString(int)
{
    return "";
}
