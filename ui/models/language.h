#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

QT_BEGIN_NAMESPACE
class QTranslator;
QT_END_NAMESPACE

namespace lathe::ui {

/// The language of the texts, switched while the program runs. One object, on the GUI thread.
///
/// Who shows a text sets it inside retranslated(), which runs at once and again after each switch:
///     retranslated(button, [this, button] { button->setText(tr("Start")); });
/// Models need no such care for data(): the window makes their views ask again.
class Language final : public QObject
{
    Q_OBJECT

public:
    static Language& instance();
    ~Language() override;

    /// "en", "zh_CN"; empty: as the system. Loads the texts of Lathe and of Qt's own dialogs; remembered in the
    /// settings.
    void set(const QString& code);
    /// What set() was called with last, "" before.
    QString wish() const { return m_wish; }
    /// The language in use: "en" or "zh_CN".
    QString current() const { return m_current; }
    static QString stored();
    static QStringList available() { return {QStringLiteral("en"), QStringLiteral("zh_CN")}; }

signals:
    void changed();

private:
    Language() = default;
    QString m_wish;
    QString m_current = QStringLiteral("en");
    std::vector<std::unique_ptr<QTranslator>> m_translators;
};

template<typename SetTexts>
void retranslated(QObject* context, SetTexts setTexts)
{
    setTexts();
    QObject::connect(&Language::instance(), &Language::changed, context, setTexts);
}

} // namespace lathe::ui
