#pragma once

#include <QWidget>

QT_BEGIN_NAMESPACE
class QListWidget;
QT_END_NAMESPACE

namespace lathe::ui {

/// What one can do, and what was done last.
class StartPage final : public QWidget
{
    Q_OBJECT

public:
    explicit StartPage(QWidget* parent = nullptr);
    void setRecent(const QStringList& sources);

signals:
    void openModelRequested();
    void openProjectRequested();
    void sourceChosen(const QString& source); ///< a recent file, or zoo:NAME

private:
    QListWidget* m_recent = nullptr;
};

} // namespace lathe::ui
