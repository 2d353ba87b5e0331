#pragma once

#include <QPalette>
#include <QString>
#include <QTextCharFormat>
#include <QTextLayout>

#include <array>

namespace lathe::ui {

/// What a word of a program is, as far as a reader tells words apart.
enum class CodeWord
{
    Plain,
    Keyword, ///< of the language; what stands first in a line of assembly
    Type,
    Register, ///< of a machine; a value or place of LLVM's
    Number,
    String,
    Comment,
    Directive, ///< to the assembler or preprocessor
    Label,
    Count
};

/// The rules of one language: a row of a table (code_syntax.cpp), by the names of ListingKind::language. One
/// that is not known is plain text.
struct CodeSyntax;
const CodeSyntax& codeSyntax(const QString& language);
bool hasLongComments(const CodeSyntax& syntax); ///< of several lines

/// The stretches of a line that are no plain words. `inComment`: the line begins in a comment of several lines; set to
/// whether the next one does.
QList<QPair<CodeWord, QTextLayout::FormatRange>> codeWords(const CodeSyntax& syntax, const QString& line,
                                                           bool& inComment);

/// Colours that can be read on the palette's base, light or dark.
using CodeFormats = std::array<QTextCharFormat, static_cast<std::size_t>(CodeWord::Count)>;
CodeFormats codeFormats(const QPalette& palette);

} // namespace lathe::ui
