#include "ui/models/option_list.h"

#include "core/session/options/option_table.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <utility>
#include <vector>

namespace lathe::ui {

namespace {

QString cellText(QString text)
{
    return text.replace(QLatin1Char('|'), QLatin1String("\\|")).replace(QLatin1Char('<'), QLatin1String("\\<"));
}

QString flagText(const session::OptionInfo& info)
{
    QStringList names = QString::fromStdString(info.flag).split(QLatin1Char(','));
    for (QString& name : names)
        name = QLatin1Char('`') + name + QLatin1Char('`');
    const QString placeholder = QString::fromStdString(info.placeholder);
    return names.join(QStringLiteral(", "))
           + (placeholder.isEmpty() ? QString() : QLatin1Char(' ') + cellText(placeholder));
}

/// Language files may hold the sentences of the option table.
QString meaning(const session::SetOption& option)
{
    const QString help = QCoreApplication::translate("Options", option.info->help.c_str());
    const QString limits = QString::fromStdString(session::helpLimits(option));
    return limits.isEmpty() ? help : QStringLiteral("%1 (%2)").arg(help, limits);
}

} // namespace

QString optionList()
{
    std::vector<std::pair<QString, QString>> sets; // commands, rows; in the table's order
    for (const session::SetOption& option : session::allOptions()) {
        QStringList commands;
        for (const std::string& command : option.info->commands)
            commands << QStringLiteral("`lathe-cli %1`").arg(QString::fromStdString(command));
        const QString takers = commands.join(QStringLiteral(", "));
        auto set = std::find_if(sets.begin(), sets.end(), [&](const auto& each) { return each.first == takers; });
        if (set == sets.end())
            set = sets.insert(sets.end(), {takers, {}});
        set->second += QStringLiteral("| %1 | %2 |\n").arg(flagText(*option.info), cellText(meaning(option)));
    }
    QString text = QCoreApplication::translate(
                       "Options", "Options that are not given have their default values. `lathe-cli COMMAND --help` "
                                  "lists those of each command, and `man lathe-cli` all of them.")
                   + QLatin1Char('\n');
    for (const auto& [commands, rows] : sets)
        text += QStringLiteral("\n%1\n\n| %2 | %3 |\n|---|---|\n%4")
                    .arg(commands, QCoreApplication::translate("Options", "option"),
                         QCoreApplication::translate("Options", "description"), rows);
    return text;
}

} // namespace lathe::ui
