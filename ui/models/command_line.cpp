#include "ui/models/command_line.h"

#include "core/session/back_ends.h"
#include "core/session/options/option_table.h"

#include <QRegularExpression>
#include <QStringList>

#include <cmath>
#include <utility>
#include <vector>

namespace lathe::ui {

namespace {

QStringList wordsOf(const std::vector<session::SetOption>& options, const char* command)
{
    QStringList words;
    for (const std::string& word : session::commandLineArguments(options, command))
        words << QString::fromStdString(word);
    return words;
}

QStringList model(session::OpenOptions open, const char* command)
{
    // With a project a target that is not said is what it was last tuned for, else it is this machine's processor.
    if (open.project.empty() && open.target == kDefaultTarget)
        open.target.clear();
    return wordsOf(session::valuesOf(open.model), command) + wordsOf(session::valuesOf(open), command);
}

QStringList filterWords(const session::TrialQuery& query, const QString& task)
{
    QStringList words;
    const auto text = [&words](const char* option, const std::string& value) {
        if (!value.empty())
            words << QLatin1String(option) << QString::fromStdString(value);
    };
    if (query.task >= 0)
        words << QStringLiteral("--task") << task;
    if (query.run != 0)
        words << QStringLiteral("--run") << QString::number(query.run);
    text("--measured-for", query.target);
    text("--state", query.code);
    text("--stage", query.stage);
    text("--cause", query.cause);
    text("--text", query.text);
    if (std::isfinite(query.minMs))
        words << QStringLiteral("--min-ms") << QString::number(query.minMs);
    if (std::isfinite(query.maxMs))
        words << QStringLiteral("--max-ms") << QString::number(query.maxMs);
    if (query.noted)
        words << QStringLiteral("--noted");
    return words;
}

QStringList projectWords(const session::OpenOptions& open)
{
    return {QString::fromStdString(open.project.string())};
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
    session::OpenOptions alone = open;
    alone.project.clear();
    return line(QStringLiteral("tasks"), model(std::move(alone), "tasks"));
}

QString tuneCommand(const session::OpenOptions& open, const session::TuneOptions& tune)
{
    std::vector<session::SetOption> options = session::valuesOf(tune);
    if (tune.resume)
        std::erase_if(options, [](const session::SetOption& option) { return option.info->kept; });
    return line(QStringLiteral("tune"), model(open, "tune") + wordsOf(options, "tune"));
}

QString replayCommand(const session::OpenOptions& open)
{
    QStringList words{QString::fromStdString(open.project.string())};
    if (open.replay && open.replay->run > 0)
        words << QStringLiteral("--run") << QString::number(open.replay->run);
    return line(QStringLiteral("replay"), words);
}

QString compileCommand(const session::OpenOptions& open, const session::CompileOptions& compile)
{
    return line(QStringLiteral("compile"), model(open, "compile") + wordsOf(session::valuesOf(compile), "compile"));
}

QString coverageCommand(const session::OpenOptions& open, const session::CompileOptions& compile)
{
    return compileCommand(open, compile) + QStringLiteral(" --dry-run");
}

QString recordsCommand(const QString& project)
{
    return line(QStringLiteral("records list"), {project});
}

QString compareCommand(const QStringList& what)
{
    return line(QStringLiteral("compare"), what);
}

QString reportCommand(const QString& project, const QString& html)
{
    return line(QStringLiteral("report"), {project, QStringLiteral("-o"), html});
}

QString exportTrialsCommand(const session::OpenOptions& open, const session::TrialQuery& query, const QString& task,
                            const QString& format, const QString& file)
{
    using Order = session::TrialQuery::Order;
    static constexpr std::pair<Order, const char*> kOrders[] = {
        {Order::Task, "task"},           {Order::Alternative, "algorithm"},
        {Order::Sketch, "sketch"},       {Order::Latency, "latency"},
        {Order::Predicted, "predicted"}, {Order::State, "state"},
        {Order::Round, "round"},         {Order::Verified, "verified"},
        {Order::Trial, "trial"},         {Order::Text, "text"},
        {Order::Note, "note"},           {Order::Repeats, "repeats"}};
    QStringList words = projectWords(open) + QStringList{QStringLiteral("--format"), format} + filterWords(query, task);
    for (const auto& [order, name] : kOrders)
        if (query.order == order)
            words << QStringLiteral("--order") << QLatin1String(name);
    if (query.descending)
        words << QStringLiteral("--descending");
    return line(QStringLiteral("records export"), words + QStringList{QStringLiteral("-o"), file});
}

QString importCommand(const session::OpenOptions& open, const QStringList& logs)
{
    return line(QStringLiteral("records import"), projectWords(open) + logs);
}

QString remeasureCommand(const session::OpenOptions& open, const QStringList& trials)
{
    return line(QStringLiteral("records remeasure"), projectWords(open) + trials);
}

QString retryCommand(const session::OpenOptions& open, const session::TrialQuery& query, const QString& task)
{
    return line(QStringLiteral("records retry"), projectWords(open) + filterWords(query, task));
}

} // namespace lathe::ui
