#include "tests/cuda_driver/arithmetic_case.h"
#include "tests/cuda_driver/ptx/small_float.h"
#include "tests/support/test_program.h"

#include <cmath>
#include <limits>

using namespace lathe::ptx;
using namespace lathe::ptx::testing;

namespace tst_ptx_arithmetic {

/// Each instruction of arithmetic beside what C++ computes, on numbers at the edges of the types.
class TestPtxArithmetic : public QObject
{
    Q_OBJECT

    static std::string program(const std::string& instruction)
    {
        std::string body = "mov.u32 %r30, %tid.x;\nmov.u32 %r31, %ctaid.x;\nmov.u32 %r32, %ntid.x;\nmad.lo.u32 %r33, "
                           "%r31, %r32, %r30;\n"
                           "mul.wide.u32 %d30, %r33, 8;\n";
        for (const char* name : {"a", "b", "c"}) {
            const std::string k = std::to_string(name[0] - 'a' + 1);
            body += std::string("ld.param.u64 %d31, [") + name + "];\nadd.s64 %d31, %d31, %d30;\nld.global.u64 %d" + k
                    + ", [%d31];\n" + "cvt.u32.u64 %r" + k + ", %d" + k + ";\ncvt.u16.u64 %h" + k + ", %d" + k
                    + ";\nmov.b32 %f" + k + ", %r" + k + ";\nmov.b64 %g" + k + ", %d" + k + ";\nsetp.ne.u64 %p" + k
                    + ", %d" + k + ", 0;\n";
        }
        body += "mov.u64 %d9, 0;\n" + instruction + "\n";
        if (instruction.find("%r9") != std::string::npos)
            body += "cvt.u64.u32 %d9, %r9;\n";
        else if (instruction.find("%h9") != std::string::npos)
            body += "cvt.u64.u16 %d9, %h9;\n";
        else if (instruction.find("%f9") != std::string::npos)
            body += "mov.b32 %r9, %f9;\ncvt.u64.u32 %d9, %r9;\n";
        else if (instruction.find("%g9") != std::string::npos)
            body += "mov.b64 %d9, %g9;\n";
        else if (instruction.find("%p9") != std::string::npos)
            body += "selp.u64 %d9, 1, 0, %p9;\n";
        body += "ld.param.u64 %d31, [out];\nadd.s64 %d31, %d31, %d30;\nst.global.u64 [%d31], %d9;\n";
        return kernelText(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out", body);
    }

    static bool equal(const Case& tested, Bits got, Bits wanted)
    {
        if (got == wanted)
            return true;
        const bool wide = tested.instruction.find("%g9") != std::string::npos;
        const bool narrow = tested.instruction.find("%f9") != std::string::npos;
        if (!wide && !narrow)
            return false;
        const double a = wide ? as<double>(got) : static_cast<double>(as<float>(got));
        const double b = wide ? as<double>(wanted) : static_cast<double>(as<float>(wanted));
        return (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tested.tolerance * std::fabs(b);
    }

    static void verify(const Case& tested)
    {
        const std::vector<Bits> samples = samplesOf(tested.samples);
        std::vector<Bits> a, b, c;
        for (size_t i = 0; i < samples.size(); ++i)
            for (size_t j = 0; j < samples.size(); ++j)
                for (size_t k = 0; k < samples.size(); k += 3) {
                    a.push_back(samples[i]);
                    b.push_back(samples[j]);
                    c.push_back(samples[(i + k) % samples.size()]);
                }
        while (a.size() % 64 != 0) {
            a.push_back(1);
            b.push_back(1);
            c.push_back(1);
        }
        KernelRun kernel(program(tested.instruction));
        QVERIFY2(kernel.problem().empty(), kernel.problem().c_str());
        const uint64_t out = kernel.room(a.size() * 8);
        const LaunchReport report = kernel.run({static_cast<uint32_t>(a.size() / 64), 1, 1}, {64, 1, 1},
                                               {kernel.put(a), kernel.put(b), kernel.put(c), out});
        LATHE_VERIFY_CLEAN(report);
        const std::vector<Bits> got = kernel.get<Bits>(out);
        for (size_t i = 0; i < a.size(); ++i) {
            const Bits wanted = tested.expected(a[i], b[i], c[i]);
            QVERIFY2(equal(tested, got[i], wanted), qPrintable(QStringLiteral("%1 of %2, %3, %4 gives %5 instead of %6")
                                                                   .arg(QString::fromStdString(tested.instruction))
                                                                   .arg(a[i], 0, 16)
                                                                   .arg(b[i], 0, 16)
                                                                   .arg(c[i], 0, 16)
                                                                   .arg(got[i], 0, 16)
                                                                   .arg(wanted, 0, 16)));
        }
    }

    static void rows(const std::vector<Case>& cases)
    {
        for (const Case& tested : cases) {
            verify(tested);
            if (QTest::currentTestFailed())
                return;
        }
    }

    template<typename T>
    static double halfValue(T bits, SmallFormat format)
    {
        return decode(static_cast<uint32_t>(bits) & 0xffff, format);
    }

private slots:
    void integers()
    {
        const auto I = Samples::Integers;
        using u16 = uint16_t;
        using s16 = int16_t;
        using u32 = uint32_t;
        using s32 = int32_t;
        using u64 = uint64_t;
        using s64 = int64_t;
        __extension__ using u128 = unsigned __int128;
        __extension__ using s128 = __int128;
        rows({
            {"add.s32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return a + b; })},
            {"add.u16 %h9, %h1, %h2;", I, of<u16>([](u16 a, u16 b) { return u16(a + b); })},
            {"add.s64 %d9, %d1, %d2;", I, of<u64>([](u64 a, u64 b) { return a + b; })},
            {"add.sat.s32 %r9, %r1, %r2;", I,
             of<s32>([](s32 a, s32 b) { return s32(std::clamp<s64>(s64(a) + b, INT32_MIN, INT32_MAX)); })},
            {"sub.sat.s32 %r9, %r1, %r2;", I,
             of<s32>([](s32 a, s32 b) { return s32(std::clamp<s64>(s64(a) - b, INT32_MIN, INT32_MAX)); })},
            {"sub.s32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return a - b; })},
            {"sub.s16 %h9, %h1, %h2;", I, of<u16>([](u16 a, u16 b) { return u16(a - b); })},
            {"mul.lo.s32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return a * b; })},
            {"mul.lo.s16 %h9, %h1, %h2;", I, of<u16>([](u16 a, u16 b) { return u16(u32(a) * b); })},
            {"mul.lo.s64 %d9, %d1, %d2;", I, of<u64>([](u64 a, u64 b) { return a * b; })},
            {"mul.hi.s32 %r9, %r1, %r2;", I, of<s32>([](s32 a, s32 b) { return s32(s64(a) * b >> 32); })},
            {"mul.hi.u32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return u32(u64(a) * b >> 32); })},
            {"mul.hi.s16 %h9, %h1, %h2;", I, of<s16>([](s16 a, s16 b) { return s16(s32(a) * b >> 16); })},
            {"mul.hi.u64 %d9, %d1, %d2;", I, of<u64>([](u64 a, u64 b) { return u64(u128(a) * b >> 64); })},
            {"mul.hi.s64 %d9, %d1, %d2;", I, of<s64>([](s64 a, s64 b) { return s64(s128(a) * b >> 64); })},
            {"mul.wide.s32 %d9, %r1, %r2;", I, of<s32>([](s32 a, s32 b) { return s64(a) * b; })},
            {"mul.wide.u32 %d9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return u64(a) * b; })},
            {"mul.wide.u16 %r9, %h1, %h2;", I, of<u16>([](u16 a, u16 b) { return u32(a) * b; })},
            {"mul.wide.s16 %r9, %h1, %h2;", I, of<s16>([](s16 a, s16 b) { return s32(a) * b; })},
            {"mul24.lo.u32 %r9, %r1, %r2;", I,
             of<u32>([](u32 a, u32 b) { return u32(u64(a & 0xffffff) * (b & 0xffffff)); })},
            {"mad.lo.s32 %r9, %r1, %r2, %r3;", I, of<u32>([](u32 a, u32 b, u32 c) { return a * b + c; })},
            {"mad.hi.u32 %r9, %r1, %r2, %r3;", I,
             of<u32>([](u32 a, u32 b, u32 c) { return u32(u64(a) * b >> 32) + c; })},
            {"mad.wide.s32 %d9, %r1, %r2, %d3;", I,
             [](Bits a, Bits b, Bits c) { return u64(s64(as<s32>(a)) * as<s32>(b)) + c; }},
            {"mad.wide.u16 %r9, %h1, %h2, %r3;", I,
             [](Bits a, Bits b, Bits c) { return Bits(u32(as<u16>(a)) * as<u16>(b) + u32(c)); }},
            {"mad.lo.u64 %d9, %d1, %d2, %d3;", I, of<u64>([](u64 a, u64 b, u64 c) { return a * b + c; })},
            {"div.s32 %r9, %r1, %r2;", I, of<s32>([](s32 a, s32 b) {
                 return b == 0 ? -1 : b == -1 ? s32(0u - u32(a)) : a / b;
             })},
            {"div.u32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return b == 0 ? ~0u : a / b; })},
            {"div.s64 %d9, %d1, %d2;", I, of<s64>([](s64 a, s64 b) {
                 return b == 0 ? -1 : b == -1 ? s64(u64(0) - u64(a)) : a / b;
             })},
            {"rem.s32 %r9, %r1, %r2;", I, of<s32>([](s32 a, s32 b) { return b == 0    ? a
                                                                            : b == -1 ? 0
                                                                                      : a % b; })},
            {"rem.u64 %d9, %d1, %d2;", I, of<u64>([](u64 a, u64 b) { return b == 0 ? a : a % b; })},
            {"min.s32 %r9, %r1, %r2;", I, of<s32>([](s32 a, s32 b) { return std::min(a, b); })},
            {"max.u32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return std::max(a, b); })},
            {"max.s64 %d9, %d1, %d2;", I, of<s64>([](s64 a, s64 b) { return std::max(a, b); })},
            {"min.u16 %h9, %h1, %h2;", I, of<u16>([](u16 a, u16 b) { return std::min(a, b); })},
            {"abs.s32 %r9, %r1;", I, of<s32>([](s32 a) { return a < 0 ? 0u - u32(a) : u32(a); })},
            {"neg.s64 %d9, %d1;", I, of<u64>([](u64 a) { return u64(0) - a; })},
            {"neg.s16 %h9, %h1;", I, of<u16>([](u16 a) { return u16(0 - a); })},
            {"sad.u32 %r9, %r1, %r2, %r3;", I,
             of<u32>([](u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); })},
            {"dp4a.s32.s32 %r9, %r1, %r2, %r3;", I, of<u32>([](u32 a, u32 b, u32 c) {
                 for (unsigned k = 0; k < 32; k += 8)
                     c += u32(s32(int8_t(a >> k)) * int8_t(b >> k));
                 return c;
             })},
            {"dp4a.u32.s32 %r9, %r1, %r2, %r3;", I, of<u32>([](u32 a, u32 b, u32 c) {
                 for (unsigned k = 0; k < 32; k += 8)
                     c += u32(s32(uint8_t(a >> k)) * int8_t(b >> k));
                 return c;
             })},
            {"add.cc.u32 %r8, %r1, %r2;\naddc.u32 %r9, %r3, 0;", I,
             of<u32>([](u32 a, u32 b, u32 c) { return c + u32((u64(a) + b) >> 32); })},
            {"sub.cc.u32 %r8, %r1, %r2;\nsubc.u32 %r9, %r3, 0;", I,
             of<u32>([](u32 a, u32 b, u32 c) { return c - (a < b ? 1 : 0); })},
            {"mad.lo.cc.u32 %r8, %r1, %r2, %r3;\nmadc.hi.u32 %r9, %r1, %r2, 0;", I,
             of<u32>([](u32 a, u32 b, u32 c) { return u32((u64(a) * b + c) >> 32); })},
            {"add.cc.u64 %d8, %d1, %d2;\naddc.u64 %d9, 0, 0;", I,
             of<u64>([](u64 a, u64 b) { return u64((u128(a) + b) >> 64); })},
        });
    }

    void bits()
    {
        const auto I = Samples::Integers;
        using u16 = uint16_t;
        using u32 = uint32_t;
        using u64 = uint64_t;
        using s32 = int32_t;
        rows({
            {"and.b32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return a & b; })},
            {"or.b64 %d9, %d1, %d2;", I, of<u64>([](u64 a, u64 b) { return a | b; })},
            {"xor.b16 %h9, %h1, %h2;", I, of<u16>([](u16 a, u16 b) { return u16(a ^ b); })},
            {"not.b32 %r9, %r1;", I, of<u32>([](u32 a) { return ~a; })},
            {"cnot.b32 %r9, %r1;", I, of<u32>([](u32 a) { return u32(a == 0); })},
            {"and.pred %p9, %p1, %p2;", I, [](Bits a, Bits b, Bits) { return Bits(a != 0 && b != 0); }},
            {"xor.pred %p9, %p1, %p2;", I, [](Bits a, Bits b, Bits) { return Bits((a != 0) != (b != 0)); }},
            {"not.pred %p9, %p1;", I, [](Bits a, Bits, Bits) { return Bits(a == 0); }},
            {"shl.b32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return b > 31 ? 0 : a << b; })},
            {"shr.u32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return b > 31 ? 0 : a >> b; })},
            {"shr.s32 %r9, %r1, %r2;", I, of<u32>([](u32 a, u32 b) { return u32(s32(a) >> std::min(b, 31u)); })},
            {"shr.s64 %d9, %d1, %r2;", I,
             [](Bits a, Bits b, Bits) { return Bits(int64_t(a) >> std::min(u32(b), 63u)); }},
            {"shl.b16 %h9, %h1, %r2;", I, [](Bits a, Bits b, Bits) { return Bits(u32(b) > 15 ? 0 : u16(a << b)); }},
            {"shf.l.wrap.b32 %r9, %r1, %r2, %r3;", I,
             of<u32>([](u32 a, u32 b, u32 c) { return u32(((u64(b) << 32 | a) << (c & 31)) >> 32); })},
            {"shf.r.clamp.b32 %r9, %r1, %r2, %r3;", I,
             of<u32>([](u32 a, u32 b, u32 c) { return u32((u64(b) << 32 | a) >> std::min(c, 32u)); })},
            {"lop3.b32 %r9, %r1, %r2, %r3, 0x96;", I, of<u32>([](u32 a, u32 b, u32 c) { return a ^ b ^ c; })},
            {"lop3.b32 %r9, %r1, %r2, %r3, 0xca;", I, of<u32>([](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); })},
            {"prmt.b32 %r9, %r1, %r2, 0x4173;", I, of<u32>([](u32 a, u32 b) {
                 const u64 both = u64(b) << 32 | a;
                 return u32((both >> 24 & 0xff) | (both >> 56 & 0xff) << 8 | (both >> 8 & 0xff) << 16
                            | (both >> 32 & 0xff) << 24);
             })},
            {"prmt.b32 %r9, %r1, %r2, 0xba98;", I, of<u32>([](u32 a, u32) {
                 u32 r = 0;
                 for (unsigned k = 0; k < 4; ++k)
                     r |= (a >> (8 * k + 7) & 1) != 0 ? 0xffu << 8 * k : 0;
                 return r;
             })},
            {"bfe.u32 %r9, %r1, 4, 9;", I, of<u32>([](u32 a) { return a >> 4 & 0x1ff; })},
            {"bfe.s32 %r9, %r1, 3, 7;", I, of<u32>([](u32 a) { return u32(s32(a << 22) >> 25); })},
            {"bfe.s64 %d9, %d1, 60, 8;", I, of<u64>([](u64 a) { return u64(int64_t(a) >> 60); })},
            {"bfi.b32 %r9, %r1, %r2, 8, 12;", I,
             of<u32>([](u32 a, u32 b) { return (b & ~0xfff00u) | (a << 8 & 0xfff00u); })},
            {"brev.b32 %r9, %r1;", I, of<u32>([](u32 a) {
                 u32 r = 0;
                 for (unsigned k = 0; k < 32; ++k)
                     r |= (a >> k & 1) << (31 - k);
                 return r;
             })},
            {"clz.b64 %r9, %d1;", I, [](Bits a, Bits, Bits) { return Bits(std::countl_zero(a)); }},
            {"popc.b32 %r9, %r1;", I, of<u32>([](u32 a) { return u32(std::popcount(a)); })},
            {"bfind.u32 %r9, %r1;", I, of<u32>([](u32 a) { return a == 0 ? ~0u : 31 - u32(std::countl_zero(a)); })},
            {"bfind.shiftamt.u32 %r9, %r1;", I, of<u32>([](u32 a) { return a == 0 ? ~0u : u32(std::countl_zero(a)); })},
            {"bfind.s32 %r9, %r1;", I, of<u32>([](u32 a) {
                 const u32 b = s32(a) < 0 ? ~a : a;
                 return b == 0 ? ~0u : 31 - u32(std::countl_zero(b));
             })},
        });
    }

    void floats()
    {
        const auto F = Samples::Floats;
        const auto flush = [](float v) { return std::fabs(v) < 1.17549435e-38F ? std::copysign(0.0F, v) : v; };
        const auto limit = [](float v) { return v > 0 ? std::min(v, 1.0F) : 0.0F; };
        const auto least = [](float a, float b) {
            return std::isnan(a) ? b : std::isnan(b) ? a : a < b || (a == b && std::signbit(a)) ? a : b;
        };
        rows({
            {"add.f32 %f9, %f1, %f2;", F, of<float>([](float a, float b) { return a + b; })},
            {"add.rz.f32 %f9, %f1, %f2;", F,
             of<float>(rounded(FE_TOWARDZERO,
                               [](float a, float b) {
                                   volatile float x = a;
                                   return x + b;
                               }))},
            {"sub.rm.f32 %f9, %f1, %f2;", F,
             of<float>(rounded(FE_DOWNWARD,
                               [](float a, float b) {
                                   volatile float x = a;
                                   return x - b;
                               }))},
            {"mul.rp.f32 %f9, %f1, %f2;", F,
             of<float>(rounded(FE_UPWARD,
                               [](float a, float b) {
                                   volatile float x = a;
                                   return x * b;
                               }))},
            {"mul.f32 %f9, %f1, %f2;", F, of<float>([](float a, float b) { return a * b; })},
            {"mul.ftz.f32 %f9, %f1, %f2;", F, of<float>([=](float a, float b) { return flush(flush(a) * flush(b)); })},
            {"fma.rn.f32 %f9, %f1, %f2, %f3;", F,
             of<float>([](float a, float b, float c) { return std::fma(a, b, c); })},
            {"fma.rz.f32 %f9, %f1, %f2, %f3;", F,
             of<float>(rounded(FE_TOWARDZERO, [](float a, float b, float c) { return std::fma(a, b, c); }))},
            {"fma.rn.sat.f32 %f9, %f1, %f2, %f3;", F,
             of<float>([=](float a, float b, float c) { return limit(std::fma(a, b, c)); })},
            {"add.sat.f32 %f9, %f1, %f2;", F, of<float>([=](float a, float b) { return limit(a + b); })},
            {"div.rn.f32 %f9, %f1, %f2;", F, of<float>([](float a, float b) { return a / b; })},
            {"div.approx.f32 %f9, %f1, %f2;", F, of<float>([](float a, float b) { return a / b; }), 3e-7},
            {"min.f32 %f9, %f1, %f2;", F, of<float>(least)},
            {"max.f32 %f9, %f1, %f2;", F, of<float>([=](float a, float b) { return -least(-a, -b); })},
            {"min.NaN.f32 %f9, %f1, %f2;", F,
             of<float>([=](float a, float b) { return a != a || b != b ? NAN : least(a, b); })},
            {"abs.f32 %f9, %f1;", F, of<float>([](float a) { return std::fabs(a); })},
            {"neg.f32 %f9, %f1;", F, of<float>([](float a) { return -a; })},
            {"copysign.f32 %f9, %f1, %f2;", F, of<float>([](float a, float b) { return std::copysign(b, a); })},
            {"sqrt.rn.f32 %f9, %f1;", F, of<float>([](float a) { return std::sqrt(a); })},
            {"rcp.rn.f32 %f9, %f1;", F, of<float>([](float a) { return 1 / a; })},
            {"rsqrt.approx.f32 %f9, %f1;", F, of<float>([](float a) { return 1 / std::sqrt(a); }), 3e-7},
            {"ex2.approx.f32 %f9, %f1;", F, of<float>([](float a) { return std::exp2(a); }), 3e-7},
            {"lg2.approx.f32 %f9, %f1;", F, of<float>([](float a) { return std::log2(a); }), 3e-7},
            {"tanh.approx.f32 %f9, %f1;", F, of<float>([](float a) { return std::tanh(a); }), 5e-4},
            {"testp.finite.f32 %p9, %f1;", F, of<float>([](float a) { return std::isfinite(a); })},
            {"testp.subnormal.f32 %p9, %f1;", F, of<float>([](float a) { return std::fpclassify(a) == FP_SUBNORMAL; })},
        });
        // Negative, not a number: only the sign of what is none is a device's own.
        verify({"add.f32 %f8, %f1, %f2;\nmov.b32 %r9, %f8;", F, of<float>([](float a, float b) {
                    return a + b != a + b ? std::bit_cast<float>(0x7fffffffu) : a + b;
                })});
    }

    void doubles()
    {
        const auto D = Samples::Doubles;
        const auto flush = [](double v) { return std::fabs(v) < 2.2250738585072014e-308 ? std::copysign(0.0, v) : v; };
        rows({
            {"add.f64 %g9, %g1, %g2;", D, of<double>([](double a, double b) { return a + b; })},
            {"mul.rn.f64 %g9, %g1, %g2;", D, of<double>([](double a, double b) { return a * b; })},
            {"fma.rn.f64 %g9, %g1, %g2, %g3;", D,
             of<double>([](double a, double b, double c) { return std::fma(a, b, c); })},
            {"fma.rm.f64 %g9, %g1, %g2, %g3;", D,
             of<double>(rounded(FE_DOWNWARD, [](double a, double b, double c) { return std::fma(a, b, c); }))},
            {"div.rn.f64 %g9, %g1, %g2;", D, of<double>([](double a, double b) { return a / b; })},
            {"sqrt.rn.f64 %g9, %g1;", D, of<double>([](double a) { return std::sqrt(a); })},
            {"neg.f64 %g9, %g1;", D, of<double>([](double a) { return -a; })},
            {"max.f64 %g9, %g1, %g2;", D, of<double>([](double a, double b) {
                 return std::isnan(a) ? b : std::isnan(b) ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
             })},
            {"rcp.approx.ftz.f64 %g9, %g1;", D, of<double>([=](double a) { return 1 / flush(a); }), 2e-6},
            {"rsqrt.approx.ftz.f64 %g9, %g1;", D, of<double>([=](double a) { return 1 / std::sqrt(flush(a)); }), 2e-6},
        });
    }

    void comparisons()
    {
        const auto F = Samples::Floats;
        const auto I = Samples::Integers;
        const auto isAny = [](float a, float b) { return a != a || b != b; };
        rows({
            {"setp.lt.s32 %p9, %r1, %r2;", I, of<int32_t>([](int32_t a, int32_t b) { return a < b; })},
            {"setp.lo.u32 %p9, %r1, %r2;", I, of<uint32_t>([](uint32_t a, uint32_t b) { return a < b; })},
            {"setp.hs.u64 %p9, %d1, %d2;", I, of<uint64_t>([](uint64_t a, uint64_t b) { return a >= b; })},
            {"setp.ge.s16 %p9, %h1, %h2;", I, of<int16_t>([](int16_t a, int16_t b) { return a >= b; })},
            {"setp.eq.b32 %p9, %r1, %r2;", I, of<uint32_t>([](uint32_t a, uint32_t b) { return a == b; })},
            {"setp.ne.s64 %p9, %d1, %d2;", I, of<int64_t>([](int64_t a, int64_t b) { return a != b; })},
            {"setp.lt.f32 %p9, %f1, %f2;", F, of<float>([](float a, float b) { return a < b; })},
            {"setp.ne.f32 %p9, %f1, %f2;", F, of<float>([=](float a, float b) { return !isAny(a, b) && a != b; })},
            {"setp.neu.f32 %p9, %f1, %f2;", F, of<float>([=](float a, float b) { return isAny(a, b) || a != b; })},
            {"setp.ltu.f32 %p9, %f1, %f2;", F, of<float>([=](float a, float b) { return isAny(a, b) || a < b; })},
            {"setp.geu.f32 %p9, %f1, %f2;", F, of<float>([=](float a, float b) { return isAny(a, b) || a >= b; })},
            {"setp.equ.f32 %p9, %f1, %f2;", F, of<float>([=](float a, float b) { return isAny(a, b) || a == b; })},
            {"setp.num.f32 %p9, %f1, %f2;", F, of<float>([=](float a, float b) { return !isAny(a, b); })},
            {"setp.nan.f32 %p9, %f1, %f2;", F, of<float>(isAny)},
            {"setp.eq.ftz.f32 %p9, %f1, 0f00000000;", F,
             of<float>([](float a) { return std::fabs(a) < 1.17549435e-38F; })},
            {"setp.gt.f64 %p9, %g1, %g2;", Samples::Doubles, of<double>([](double a, double b) { return a > b; })},
            {"setp.lt.and.s32 %p9, %r1, %r2, %p3;", I,
             [](Bits a, Bits b, Bits c) { return Bits(int32_t(a) < int32_t(b) && c != 0); }},
            {"setp.lt.or.s32 %p8|%p9, %r1, %r2, !%p3;", I,
             [](Bits a, Bits b, Bits c) { return Bits(int32_t(a) >= int32_t(b) || c == 0); }},
            {"set.lt.u32.s32 %r9, %r1, %r2;", I, of<int32_t>([](int32_t a, int32_t b) { return a < b ? ~0u : 0u; })},
            {"set.gt.f32.f32 %f9, %f1, %f2;", F, of<float>([](float a, float b) { return a > b ? 1.0F : 0.0F; })},
            {"selp.b32 %r9, %r1, %r2, %p3;", I, [](Bits a, Bits b, Bits c) { return Bits(uint32_t(c != 0 ? a : b)); }},
            {"selp.f64 %g9, %g1, %g2, %p3;", Samples::Doubles, [](Bits a, Bits b, Bits c) { return c != 0 ? a : b; }},
            {"slct.u32.s32 %r9, %r1, %r2, %r3;", I,
             [](Bits a, Bits b, Bits c) { return Bits(uint32_t(int32_t(c) >= 0 ? a : b)); }},
            {"slct.b32.f32 %r9, %r1, %r2, %f3;", F, [](Bits a, Bits b, Bits c) { return as<float>(c) >= 0 ? a : b; }},
        });
    }

    void conversions()
    {
        const auto F = Samples::Floats;
        const auto I = Samples::Integers;
        const auto D = Samples::Doubles;
        const auto whole = [](double value, double low, double high, auto as) {
            using T = decltype(as);
            if (value != value)
                return T(0);
            return value <= low    ? std::numeric_limits<T>::min()
                   : value >= high ? std::numeric_limits<T>::max()
                                   : T(value);
        };
        rows({
            {"cvt.s32.s8 %r9, %r1;", I, of<int8_t>([](int8_t a) { return int32_t(a); })},
            {"cvt.u32.u8 %r9, %r1;", I, of<uint8_t>([](uint8_t a) { return uint32_t(a); })},
            {"cvt.s64.s32 %d9, %r1;", I, of<int32_t>([](int32_t a) { return int64_t(a); })},
            {"cvt.u64.u32 %d9, %r1;", I, of<uint32_t>([](uint32_t a) { return uint64_t(a); })},
            {"cvt.s64.s16 %d9, %h1;", I, of<int16_t>([](int16_t a) { return int64_t(a); })},
            {"cvt.s16.s32 %h9, %r1;", I, of<uint16_t>([](uint16_t a) { return a; })},
            {"cvt.sat.s8.s32 %r9, %r1;", I, of<int32_t>([](int32_t a) { return std::clamp(a, -128, 127); })},
            {"cvt.sat.u8.s32 %r9, %r1;", I, of<int32_t>([](int32_t a) { return std::clamp(a, 0, 255); })},
            {"cvt.sat.u32.s64 %r9, %d1;", I,
             of<int64_t>([](int64_t a) { return uint32_t(std::clamp<int64_t>(a, 0, 0xffffffff)); })},
            {"cvt.rn.f32.s32 %f9, %r1;", I, of<int32_t>([](int32_t a) { return float(a); })},
            {"cvt.rz.f32.u32 %f9, %r1;", I,
             of<uint32_t>(rounded(FE_TOWARDZERO,
                                  [](uint32_t a) {
                                      volatile uint32_t x = a;
                                      return float(x);
                                  }))},
            {"cvt.rn.f32.u64 %f9, %d1;", I, of<uint64_t>([](uint64_t a) { return float(a); })},
            {"cvt.rn.f64.s64 %g9, %d1;", I, of<int64_t>([](int64_t a) { return double(a); })},
            {"cvt.rzi.s32.f32 %r9, %f1;", F,
             of<float>([=](float a) { return whole(std::trunc(double(a)), -2147483648.0, 2147483647.0, int32_t()); })},
            {"cvt.rni.s32.f32 %r9, %f1;", F, of<float>([=](float a) {
                 return whole(std::nearbyint(double(a)), -2147483648.0, 2147483647.0, int32_t());
             })},
            {"cvt.rmi.u32.f32 %r9, %f1;", F,
             of<float>([=](float a) { return whole(std::floor(double(a)), 0.0, 4294967295.0, uint32_t()); })},
            {"cvt.rpi.s64.f64 %d9, %g1;", D, of<double>([=](double a) {
                 return whole(std::ceil(a), -9223372036854775808.0, 9223372036854775807.0, int64_t());
             })},
            {"cvt.rzi.u8.f32 %r9, %f1;", F,
             of<float>([=](float a) { return uint32_t(whole(std::trunc(double(a)), 0.0, 255.0, uint8_t())); })},
            {"cvt.rni.f32.f32 %f9, %f1;", F, of<float>([](float a) { return std::nearbyint(a); })},
            {"cvt.rzi.f32.f32 %f9, %f1;", F, of<float>([](float a) { return std::trunc(a); })},
            {"cvt.rpi.f64.f64 %g9, %g1;", D, of<double>([](double a) { return std::ceil(a); })},
            {"cvt.sat.f32.f32 %f9, %f1;", F, of<float>([](float a) { return a > 0 ? std::min(a, 1.0F) : 0.0F; })},
            {"cvt.f64.f32 %g9, %f1;", F, of<float>([](float a) { return double(a); })},
            {"cvt.rn.f32.f64 %f9, %g1;", D, of<double>([](double a) { return float(a); })},
            {"cvt.rp.f32.f64 %f9, %g1;", D,
             of<double>(rounded(FE_UPWARD,
                                [](double a) {
                                    volatile double x = a;
                                    return float(x);
                                }))},
            {"cvt.f32.f16 %f9, %h1;", Samples::Halves,
             [](Bits a, Bits, Bits) { return bitsOf(float(halfValue(a, kHalf))); }},
            {"cvt.rn.f16.f32 %h9, %f1;", F,
             of<float>([](float a) { return uint16_t(encode(double(a), kHalf, Rounding::Nearest)); })},
            {"cvt.rn.bf16.f32 %h9, %f1;", F, of<float>([](float a) {
                 const uint32_t bits = std::bit_cast<uint32_t>(a); // rounded by adding, as everybody does
                 return uint16_t(a != a ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
             })},
            {"cvt.rn.f16x2.f32 %r9, %f1, %f2;", F, of<float>([](float a, float b) {
                 return encode(double(a), kHalf, Rounding::Nearest) << 16 | encode(double(b), kHalf, Rounding::Nearest);
             })},
            {"cvt.rna.tf32.f32 %r9, %f1;", F, of<float>([](float a) {
                 const uint32_t bits = std::bit_cast<uint32_t>(a);
                 return a != a ? 0x7fffe000u : std::isinf(a) ? bits : (bits + 0x1000) & 0xffffe000u;
             })},
            {"cvt.pack.sat.s8.s32.b32 %r9, %r1, %r2, %r3;", I, of<int32_t>([](int32_t a, int32_t b, int32_t c) {
                 return uint32_t(uint8_t(std::clamp(a, -128, 127))) << 8 | uint8_t(std::clamp(b, -128, 127))
                        | uint32_t(c) << 16;
             })},
            {"mov.b32 %r9, {%h1, %h2};", I,
             [](Bits a, Bits b, Bits) { return Bits((b & 0xffff) << 16 | (a & 0xffff)); }},
            {"mov.b64 {%r8, %r9}, %d1;", I, [](Bits a, Bits, Bits) { return a >> 32; }},
        });
    }

    void halves()
    {
        const auto two = [](SmallFormat format, auto f) {
            return [=](Bits a, Bits b, Bits c) {
                return Bits(encode(f(halfValue(a, format), halfValue(b, format), halfValue(c, format)), format,
                                   Rounding::Nearest));
            };
        };
        for (const auto& [type, format, samples] :
             {std::tuple("f16", kHalf, Samples::Halves), std::tuple("bf16", kBfloat16, Samples::Bfloats)}) {
            const std::string t = type;
            rows({
                {"add.rn." + t + " %h9, %h1, %h2;", samples,
                 two(format, [](double a, double b, double) { return a + b; })},
                {"mul.rn." + t + " %h9, %h1, %h2;", samples,
                 two(format, [](double a, double b, double) { return a * b; })},
                {"fma.rn." + t + " %h9, %h1, %h2, %h3;", samples,
                 two(format, [](double a, double b, double c) { return std::fma(a, b, c); })},
                {"max." + t + " %h9, %h1, %h2;", samples,
                 two(format,
                     [](double a, double b, double) {
                         return std::isnan(a) ? b : std::isnan(b) ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
                     })},
                {"neg." + t + " %h9, %h1;", samples, [](Bits a, Bits, Bits) { return a ^ 0x8000; }},
                {"setp.lt." + t + " %p9, %h1, %h2;", samples,
                 [format = format](Bits a, Bits b, Bits) { return Bits(halfValue(a, format) < halfValue(b, format)); }},
                {"mov.b32 %r8, {%h1, %h2};\nmul.rn." + t + "x2 %r9, %r8, %r8;", samples,
                 [format = format](Bits a, Bits b, Bits) {
                     const auto square = [&](Bits v) {
                         return encode(halfValue(v, format) * halfValue(v, format), format, Rounding::Nearest);
                     };
                     return Bits(square(b) << 16 | square(a));
                 }},
            });
        }
    }

    void everyHalfIsItself()
    {
        for (uint32_t bits = 0; bits < 0x10000; ++bits)
            for (const SmallFormat format : {kHalf, kBfloat16}) {
                const double value = decode(bits, format);
                if (!std::isnan(value))
                    QCOMPARE(encode(value, format, Rounding::Nearest), bits);
            }
        QCOMPARE(encode(65520.0, kHalf, Rounding::Nearest), 0x7c00u); // the middle between the largest and the next
        QCOMPARE(encode(65519.0, kHalf, Rounding::Nearest), 0x7bffu);
        QCOMPARE(encode(1e9, kHalf, Rounding::Zero), 0x7bffu);
        QCOMPARE(encode(-1e9, kHalf, Rounding::Up), 0xfbffu);
        QCOMPARE(encode(std::ldexp(1.0, -25), kHalf, Rounding::Nearest), 0u);
        QCOMPARE(encode(std::ldexp(1.5, -25), kHalf, Rounding::Nearest), 1u);
    }
};

LATHE_TEST(TestPtxArithmetic)

} // namespace tst_ptx_arithmetic

#include "tst_ptx_arithmetic.moc"
