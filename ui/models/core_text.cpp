#include "ui/models/core_text.h"

#include <QCoreApplication>

namespace lathe::ui {

QString coreText(const Message& message)
{
    return QString::fromStdString(textOf(message, [](std::string_view english) {
        return QCoreApplication::translate("Core", std::string(english).c_str()).toStdString();
    }));
}

QString coreText(const std::string& english, const About& about)
{
    return about ? coreText(*about) : QString::fromStdString(english);
}

QString errorText(const Error& error)
{
    return coreText(error.message, error.about);
}

QString coreLine(const std::string& english, const About& about)
{
    return coreText(english, about).section(QLatin1Char('\n'), 0, 0);
}

} // namespace lathe::ui
