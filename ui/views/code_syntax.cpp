#include "ui/views/code_syntax.h"

#include <QSet>
#include <QStringList>

#include <algorithm>

namespace lathe::ui {

struct CodeSyntax
{
    QString name;
    QStringList lineComments; ///< what begins one
    QString commentBegin, commentEnd; ///< of comments of several lines; empty: none
    QString sigils; ///< before names that are registers or values: "%", "@"
    QChar directive; ///< a word that begins with it is one; null: none
    bool firstWordIsKeyword = false; ///< as the instructions of assembly
    bool labels = false; ///< a word before ':' at the start of a line is one
    QSet<QString> keywords, types;
    QString numbered; ///< letters that make a register with a number behind them: "vqdsxw"
};

namespace {

QSet<QString> words(const char* text)
{
    const QStringList list = QString::fromLatin1(text).split(QLatin1Char(' '));
    return {list.begin(), list.end()};
}

// KSyntaxHighlighting, the library for this, is in Debian 12 for Qt 5 alone.
const std::array<CodeSyntax, 6>& table()
{
    static const std::array<CodeSyntax, 6> kTable = {{
        {QStringLiteral("ir"),
         {QStringLiteral(";")},
         {},
         {},
         QStringLiteral("%@!"),
         {},
         false,
         true,
         words("define declare ret br switch phi load store call tail getelementptr inbounds nuw nsw add sub mul sdiv "
               "udiv srem urem fadd fsub fmul fdiv frem fneg and or xor shl lshr ashr icmp fcmp select zext sext trunc "
               "fpext fptrunc sitofp uitofp fptosi fptoui bitcast alloca insertelement extractelement shufflevector "
               "fence align to label attributes target datalayout triple source_filename eq ne slt sle sgt sge ult ule "
               "ugt uge olt ole ogt oge oeq one une contract noalias nounwind readonly poison undef zeroinitializer "
               "true false null unreachable splat freeze extractvalue insertvalue"),
         words("void i1 i8 i16 i32 i64 half bfloat float double ptr x metadata"),
         {}},
        {QStringLiteral("x86"),
         {QStringLiteral("# "), QStringLiteral("#")},
         {},
         {},
         QStringLiteral("%"),
         QLatin1Char('.'),
         true,
         true,
         {},
         {},
         {}},
        {QStringLiteral("arm"),
         {QStringLiteral("//"), QStringLiteral("@ ")},
         {},
         {},
         {},
         QLatin1Char('.'),
         true,
         true,
         words("lsl lsr asr uxtw sxtw"),
         words("sp lr pc xzr wzr"),
         QStringLiteral("vqdshbxwr")},
        {QStringLiteral("c"),
         {QStringLiteral("//")},
         QStringLiteral("/*"),
         QStringLiteral("*/"),
         {},
         QLatin1Char('#'),
         false,
         false,
         words("auto break case const continue default do else enum extern for goto if inline register restrict return "
               "sizeof static struct switch typedef union volatile while template typename class namespace using "
               "constexpr true false __kernel __global __local __constant __private kernel global local constant "
               "__global__ __device__ __shared__ __constant__ __restrict__ __launch_bounds__ __syncthreads barrier "
               "get_global_id get_local_id get_group_id threadIdx blockIdx blockDim gridDim"),
         words(
             "void bool char short int long float double half unsigned signed size_t uchar ushort uint ulong int8_t "
             "int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t float2 float4 float8 float16 int2 int4 half2 "
             "half4 half8 char4 uchar4"),
         {}},
        {QStringLiteral("nest"),
         {},
         {},
         {},
         {},
         {},
         false,
         false,
         words("kernel buffer phase for parallel vectorize unroll vthread blockIdx.x blockIdx.y blockIdx.z threadIdx.x "
               "threadIdx.y threadIdx.z tensorize if else prefetch locality barrier shuffle lane do strides constant "
               "readonly select min max "
               "floordiv floormod if_then_else"),
         words("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 parameter team "
               "part register shared local"),
         {}},
        {QStringLiteral("text"), {}, {}, {}, {}, {}, false, false, {}, {}, {}},
    }};
    return kTable;
}

bool isWordPart(QChar c)
{
    return c.isLetterOrNumber() || c == QLatin1Char('_') || c == QLatin1Char('.') || c == QLatin1Char('$');
}

/// What a word without sigil is.
CodeWord kindOf(const CodeSyntax& syntax, const QString& word, bool isFirst)
{
    if (word[0].isDigit())
        return CodeWord::Number;
    if (!syntax.directive.isNull() && word[0] == syntax.directive)
        return CodeWord::Directive;
    if (syntax.keywords.contains(word))
        return CodeWord::Keyword;
    if (syntax.types.contains(word))
        return CodeWord::Type;
    if (word.size() > 1 && syntax.numbered.contains(word[0]) && word[1].isDigit())
        return CodeWord::Register;
    return isFirst && syntax.firstWordIsKeyword ? CodeWord::Keyword : CodeWord::Plain;
}

/// The length of a comment that begins at a place of a line; 0: none does.
qsizetype commentAt(const CodeSyntax& syntax, const QString& line, qsizetype at, bool& goesOn)
{
    for (const QString& begin : syntax.lineComments)
        if (QStringView(line).mid(at).startsWith(begin))
            return line.size() - at;
    if (syntax.commentBegin.isEmpty() || !QStringView(line).mid(at).startsWith(syntax.commentBegin))
        return 0;
    const qsizetype end = line.indexOf(syntax.commentEnd, at + syntax.commentBegin.size());
    goesOn = end < 0;
    return goesOn ? line.size() - at : end + syntax.commentEnd.size() - at;
}

} // namespace

const CodeSyntax& codeSyntax(const QString& language)
{
    const auto& rows = table();
    const auto found = std::ranges::find(rows, language, &CodeSyntax::name);
    return found == rows.end() ? rows.back() : *found;
}

bool hasLongComments(const CodeSyntax& syntax)
{
    return !syntax.commentBegin.isEmpty();
}

QList<QPair<CodeWord, QTextLayout::FormatRange>> codeWords(const CodeSyntax& syntax, const QString& line,
                                                           bool& inComment)
{
    QList<QPair<CodeWord, QTextLayout::FormatRange>> found;
    const auto add = [&found](CodeWord kind, qsizetype from, qsizetype length) {
        if (kind != CodeWord::Plain)
            found.append({kind, {static_cast<int>(from), static_cast<int>(length), {}}});
    };
    qsizetype at = 0;
    if (inComment) {
        const qsizetype end = line.indexOf(syntax.commentEnd);
        inComment = end < 0;
        at = inComment ? line.size() : end + syntax.commentEnd.size();
        add(CodeWord::Comment, 0, at);
    }
    bool first = true;
    while (at < line.size()) {
        const QChar c = line[at];
        if (const qsizetype comment = commentAt(syntax, line, at, inComment); comment > 0) {
            add(CodeWord::Comment, at, comment);
            at += comment;
        } else if (c == QLatin1Char('"')) {
            const qsizetype end = line.indexOf(c, at + 1);
            const qsizetype length = (end < 0 ? line.size() : end + 1) - at;
            add(CodeWord::String, at, length);
            at += length;
        } else if (isWordPart(c) || syntax.sigils.contains(c)
                   || (!syntax.directive.isNull() && c == syntax.directive)) {
            qsizetype end = at + 1;
            while (end < line.size() && isWordPart(line[end]))
                ++end;
            const QString word = line.mid(at, end - at);
            if (syntax.labels && at == 0 && end < line.size() && line[end] == QLatin1Char(':'))
                add(CodeWord::Label, at, end - at);
            else if (syntax.sigils.contains(c))
                add(CodeWord::Register, at, end - at);
            else
                add(kindOf(syntax, word, first), at, end - at);
            first = false;
            at = end;
        } else {
            first = first && c.isSpace();
            ++at;
        }
    }
    return found;
}

CodeFormats codeFormats(const QPalette& palette)
{
    // Pairs for a light and a dark base, each with a contrast of at least 4.5 : 1 to white and to #1e1e1e.
    const bool dark = palette.color(QPalette::Base).lightness() < 128;
    const auto color = [dark](QRgb light, QRgb onDark) { return QColor(dark ? onDark : light); };
    CodeFormats formats;
    const auto set = [&formats](CodeWord kind, const QColor& foreground) {
        formats[static_cast<std::size_t>(kind)].setForeground(foreground);
    };
    set(CodeWord::Keyword, color(0xff0033b3, 0xff7aa6f5));
    set(CodeWord::Type, color(0xff00627a, 0xff56c2c2));
    set(CodeWord::Register, color(0xff7a3e9d, 0xffd39ae8));
    set(CodeWord::Number, color(0xff9c3c00, 0xffe5a46e));
    set(CodeWord::String, color(0xff067d17, 0xff8fc77a));
    set(CodeWord::Comment, color(0xff6a6a6a, 0xff9c9c9c));
    set(CodeWord::Directive, color(0xff7a5b00, 0xffcdb35a));
    set(CodeWord::Label, color(0xff9e1a1a, 0xfff08a8a));
    formats[static_cast<std::size_t>(CodeWord::Comment)].setFontItalic(true);
    formats[static_cast<std::size_t>(CodeWord::Label)].setFontWeight(QFont::Bold);
    return formats;
}

} // namespace lathe::ui
