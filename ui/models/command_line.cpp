#include "ui/models/command_line.h"

#include <QRegularExpression>
#include <QStringList>

namespace lathe::ui {

namespace {

QStringList model(const session::OpenOptions& open)
{
    QStringList words{QString::fromStdString(open.model.source)};
    if (open.model.batch)
        words << QStringLiteral("--batch") << QString::number(*open.model.batch);
    for (const auto& [name, shape] : open.model.shapes) {
        QStringList dims;
        for (const auto dim : shape)
            dims << QString::number(dim);
        words << QStringLiteral("--shape") << QString::fromStdString(name) + QLatin1Char('=') + dims.join(QLatin1Char(','));
    }
    if (!open.model.layout.empty())
        words << QStringLiteral("--layout") << QString::fromStdString(open.model.layout);
    if (open.model.partition != "lathe")
        words << QStringLiteral("--partition") << QString::fromStdString(open.model.partition);
    if (open.target != "cpu")
        words << QStringLiteral("--target") << QString::fromStdString(open.target);
    return words;
}

void project(QStringList& words, const session::OpenOptions& open)
{
    if (!open.project.empty())
        words << QStringLiteral("--project") << QString::fromStdString(open.project.string());
}

QString line(const QString& command, const QStringList& words)
{
    QString text = QStringLiteral("lathe-cli ") + command;
    for (const QString& word : words)
        text += QLatin1Char(' ') + shellWord(word);
    return text;
}

} // namespace

QString shellWord(const QString& word)
{
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    if (plain.match(word).hasMatch())
        return word;
    return QLatin1Char('\'') + QString(word).replace(QLatin1Char('\''), QStringLiteral("'\\''")) + QLatin1Char('\'');
}

QString tasksCommand(const session::OpenOptions& open)
{
    return line(QStringLiteral("tasks"), model(open));
}

QString tuneCommand(const session::OpenOptions& open, const session::TuneOptions& tune)
{
    QStringList words = model(open);
    project(words, open);
    if (tune.seconds > 0)
        words << QStringLiteral("--time") << QString::number(tune.seconds, 'g', 10) + QLatin1Char('s');
    if (tune.trials > 0)
        words << QStringLiteral("--trials") << QString::number(tune.trials);
    if (tune.resume)
        words << QStringLiteral("--resume");
    return line(QStringLiteral("tune"), words);
}

QString compileCommand(const session::OpenOptions& open, const session::CompileOptions& compile)
{
    QStringList words = model(open);
    project(words, open);
    if (compile.allowDefault)
        words << QStringLiteral("--allow-default");
    words << QStringLiteral("-o") << QString::fromStdString(compile.output.string());
    return line(QStringLiteral("compile"), words);
}

} // namespace lathe::ui
