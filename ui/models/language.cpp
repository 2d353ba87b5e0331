#include "ui/models/language.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QSettings>
#include <QTranslator>

namespace lathe::ui {

Language& Language::instance()
{
    static Language language;
    return language;
}

Language::~Language() = default;

QString Language::stored()
{
    return QSettings().value(QStringLiteral("language")).toString();
}

void Language::set(const QString& code)
{
    m_wish = code;
    const QString language = !code.isEmpty()                                    ? code
                             : QLocale::system().language() == QLocale::Chinese ? QStringLiteral("zh_CN")
                                                                                : QStringLiteral("en");
    QSettings().setValue(QStringLiteral("language"), code);
    for (const auto& translator : m_translators)
        QCoreApplication::removeTranslator(translator.get());
    m_translators.clear();
    const auto install = [this](const QString& file, const QString& folder) {
        auto translator = std::make_unique<QTranslator>();
        if (translator->load(file, folder)) {
            QCoreApplication::installTranslator(translator.get());
            m_translators.push_back(std::move(translator));
        }
    };
    install(QStringLiteral("qtbase_") + language, QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    install(QStringLiteral("lathe_") + language, QStringLiteral(":/i18n"));
    m_current = language;
    emit changed();
}

} // namespace lathe::ui
