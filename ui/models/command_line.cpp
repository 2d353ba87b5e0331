#include "ui/models/command_line.h"

#include <QRegularExpression>
#include <QStringList>

#include <cmath>

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
    if (!open.model.hardware.empty())
        words << QStringLiteral("--hardware") << QString::fromStdString(open.model.hardware);
    if (open.model.seed != 0)
        words << QStringLiteral("--weight-seed") << QString::number(open.model.seed);
    if (!open.target.empty() && open.target != "cpu")
        words << QStringLiteral("--target") << QString::fromStdString(open.target);
    return words;
}

void project(QStringList& words, const session::OpenOptions& open)
{
    // With a project a target that is not said is what it was last tuned for.
    if (!open.project.empty() && open.target == "cpu")
        words << QStringLiteral("--target") << QStringLiteral("cpu");
    if (!open.project.empty())
        words << QStringLiteral("--project") << QString::fromStdString(open.project.string());
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
    return line(QStringLiteral("tasks"), model(open));
}

QString tuneCommand(const session::OpenOptions& open, const session::TuneOptions& tune)
{
    const session::TuneOptions usual;
    QStringList words = model(open);
    project(words, open);
    const auto text = [&words](const char* option, const std::string& value, const std::string& normal) {
        if (value != normal)
            words << QLatin1String(option) << QString::fromStdString(value);
    };
    const auto number = [&words](const char* option, auto value, auto normal) {
        if (value != normal)
            words << QLatin1String(option) << QString::number(value);
    };
    if (tune.seconds > 0)
        words << QStringLiteral("--time") << QString::number(tune.seconds, 'g', 10) + QLatin1Char('s');
    number("--trials", tune.trials, usual.trials);
    number("--trials-per-task", tune.trialsPerTask, usual.trialsPerTask);
    number("--trials-per-round", tune.trialsPerRound, usual.trialsPerRound);
    text("--policy", tune.policy, usual.policy);
    for (const std::string& device : tune.devices)
        words << QStringLiteral("--device") << QString::fromStdString(device);
    number("--seed", tune.seed, usual.seed);
    number("--repeat", tune.repeat, usual.repeat);
    number("--number", tune.number, usual.number);
    if (tune.minRepeatMs)
        words << QStringLiteral("--min-repeat-ms") << QString::number(*tune.minRepeatMs, 'g', 10);
    number("--timeout", tune.timeoutSeconds, usual.timeoutSeconds);
    number("--cooldown-ms", tune.cooldownMs, usual.cooldownMs);
    number("--early-stop", tune.earlyStop, usual.earlyStop);
    number("--build-jobs", tune.buildJobs, usual.buildJobs);
    text("--cache", tune.cache, usual.cache);
    if (!tune.resume) { // a run that goes on has its own
        text("--runoff", tune.runoff, usual.runoff);
        text("--head-start", tune.headStart, usual.headStart);
    }
    if (tune.strict)
        words << QStringLiteral("--strict");
    if (tune.minGainPercent > 0)
        words << QStringLiteral("--min-gain") << QString::number(tune.minGainPercent) << QStringLiteral("--gain-window") << QString::number(tune.gainWindowSeconds, 'g', 10) + QLatin1Char('s');
    if (tune.resume)
        words << QStringLiteral("--resume");
    return line(QStringLiteral("tune"), words);
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
    QStringList words = model(open);
    project(words, open);
    if (!compile.name.empty())
        words << QStringLiteral("--name") << QString::fromStdString(compile.name);
    if (compile.threads > 0)
        words << QStringLiteral("--threads") << QString::number(compile.threads);
    if (compile.allowDefault)
        words << QStringLiteral("--allow-default");
    if (compile.strict)
        words << QStringLiteral("--strict");
    if (!compile.verify)
        words << QStringLiteral("--no-verify");
    if (!compile.benchmark)
        words << QStringLiteral("--no-bench");
    words << QStringLiteral("-o") << QString::fromStdString(compile.output.string());
    return line(QStringLiteral("compile"), words);
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

QString exportTrialsCommand(const session::OpenOptions& open, const session::TrialQuery& query, const QString& task, const QString& format, const QString& file)
{
    using Order = session::TrialQuery::Order;
    static constexpr std::pair<Order, const char*> kOrders[] = {
        {Order::Task, "task"},   {Order::Alternative, "algorithm"}, {Order::Sketch, "sketch"}, {Order::Latency, "latency"}, {Order::Predicted, "predicted"}, {Order::State, "state"},
        {Order::Round, "round"}, {Order::Verified, "verified"},     {Order::Trial, "trial"},   {Order::Text, "text"},       {Order::Note, "note"},           {Order::Repeats, "repeats"}};
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
