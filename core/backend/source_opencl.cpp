#include "core/backend/source_language.h"

#include <fmt/format.h>

namespace lathe::backend {

namespace {

constexpr std::string_view kOpenClWords =
    "kernel global local constant private for if else while do return const void switch case image event signed "
    "unsigned struct union enum static inline break continue default goto sizeof typedef volatile register restrict "
    "extern auto pipe bool size_t read_only dot step mix sign length clamp round abs min max select isnan barrier NAN "
    "INFINITY INT_MIN LONG_MIN get_group_id get_local_id write_only CLK_LOCAL_MEM_FENCE tanh vload2 vload3 vload4 "
    "vload8 vload16 vstore2 vstore3 vstore4 vstore8 vstore16 cl_intel_subgroups get_sub_group_id "
    "get_sub_group_local_id "
    "get_sub_group_size intel_sub_group_shuffle_xor";

constexpr SourceFunction kOpenClFunctions[] = {{"exp", "exp", "exp"},
                                               {"exp2", "exp2", "exp2"},
                                               {"log", "log", "log"},
                                               {"log2", "log2", "log2"},
                                               {"sqrt", "sqrt", "sqrt"},
                                               {"rsqrt", "rsqrt", "rsqrt"},
                                               {"expm1", "expm1", "expm1"},
                                               {"log1p", "log1p", "log1p"},
                                               {"sin", "sin", "sin"},
                                               {"cos", "cos", "cos"},
                                               {"tan", "tan", "tan"},
                                               {"atan", "atan", "atan"},
                                               {"floor", "floor", "floor"},
                                               {"ceil", "ceil", "ceil"},
                                               {"trunc", "trunc", "trunc"},
                                               {"round", "rint", "rint"},
                                               {"abs", "fabs", "fabs"},
                                               {"fabs", "fabs", "fabs"},
                                               {"pow", "pow", "pow"},
                                               {"fmod", "fmod", "fmod"},
                                               {"fma", "fma", "fma"},
                                               {"sigmoid", "sigmoid_TYPE", "sigmoid_TYPE"},
                                               // Two that may have larger errors in the language: 5 and 16 units of the
                                               // last place.
                                               {"tanh", "tanh_TYPE", "tanh_TYPE"},
                                               {"erf", "erf_TYPE", "erf"},
                                               {"product", "product_TYPE", "product_TYPE"}};

constexpr SourceHelper kOpenClHelpers[] = {
    {"vmin_TYPE", "TYPE vmin_TYPE(TYPE a, TYPE b) { return select(b, a, a < b || a != a); }\n"},
    {"vmax_TYPE", "TYPE vmax_TYPE(TYPE a, TYPE b) { return select(b, a, a > b || a != a); }\n"},
    // Rounded before anything is added to it: compilers may else join the two.
    {"product_TYPE", "TYPE product_TYPE(TYPE x, TYPE y)\n"
                     "{\n"
                     "#pragma OPENCL FP_CONTRACT OFF\n"
                     "    return x * y;\n"
                     "}\n"}};

/// PoCL's (3.1) sine, cosine and tangent of a vector are wrong if one of its elements is large and another is not.
constexpr std::string_view kWrongOfVectors[] = {"sin", "cos", "tan"};

/// The language's conversion should give 0 for not-a-number; Intel's for processors does not always.
std::string toOpenClInteger(DType from, DType to, const std::string& name)
{
    const SourceLanguage& language = openClLanguage();
    return fmt::format("{0} {1}({2} x) {{ return x == x ? convert_{0}_sat_rtz(x) : 0; }}\n", language.typeName(to),
                       name, language.typeName(from));
}

} // namespace

const SourceLanguage& openClLanguage()
{
    static const SourceLanguage kLanguage = {
        .name = "OpenCL C",
        .types = {{{"uchar", ""},
                   {"char", ""},
                   {"uchar", ""},
                   {"short", ""},
                   {"ushort", ""},
                   {"int", ""},
                   {"uint", ""},
                   {"long", ""},
                   {"ulong", ""},
                   {"half", "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"},
                   {"", ""},
                   {"float", ""},
                   {"double", "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"}}},
        .words = kOpenClWords,
        .functions = kOpenClFunctions,
        .helpers = kOpenClHelpers,
        .helperPrefix = "",
        .kernel = "__kernel __attribute__((reqd_work_group_size({0}, {1}, {2}))){4}\nvoid ",
        .globalPointer = "__global ",
        .sharedPointer = "__local ",
        .restrict = "restrict",
        .sharedArray = "__local ",
        .alignedBefore = "",
        .alignedAfter = " __attribute__((aligned(16)))",
        .blockIndex = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
        .threadIndex = {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
        .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
        .shuffleDeclaration = "#pragma OPENCL EXTENSION cl_intel_subgroups : enable\n",
        .shuffle = "intel_sub_group_shuffle_xor({0}, {2}u)",
        .shuffleNarrow = "",
        .warp = 0,
        // Without it drivers choose the width kernel by kernel (cl_intel_required_subgroup_size).
        .requiredWarp = " __attribute__((intel_reqd_sub_group_size({0})))",
        .warpIndex = "get_sub_group_id()",
        .laneIndex = "get_sub_group_local_id()",
        .laneCount = "get_sub_group_size()",
        .mostSharedBytes = INT64_MAX,
        .unsizedShared = "",
        .loadsTogether = false,
        .joinsStatements = false,
        .quotientOfSum = "({0} {1} {2})",
        .unrollsLoops = false,
        .countsRemainders = false,
        .suffixOfI64 = "l",
        .suffixOfU64 = "ul",
        .lowestI32 = "INT_MIN",
        .lowestI64 = "LONG_MIN",
        .notANumber = {"NAN", "NAN"},
        .infinity = {"INFINITY", "INFINITY"},
        .hasNarrowFloats = true,
        .toInteger = &toOpenClInteger,
        .absoluteInteger = "({0})abs(({0})({1}))",
        .computesVectors = true,
        .vectorOf = "({0})({1})",
        .spread = "({0})({1})",
        .loadVector = "vload{1}(0, {2})",
        .storeVector = "vstore{1}({3}, 0, {2});",
        .lanes = {".s0", ".s1", ".s2", ".s3"},
        .wrongOfVectors = kWrongOfVectors,
        .copy = "",
        .copyOrZero = "",
        .commitCopies = "",
        .waitForCopies = "",
        .copyHelpers = {},
    };
    return kLanguage;
}

} // namespace lathe::backend
