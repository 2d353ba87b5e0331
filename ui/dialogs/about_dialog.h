#pragma once

#include <QDialog>

namespace lathe::ui {

/// Versions of Lathe and of what it stands on, to copy into a report.
class AboutDialog final : public QDialog
{
    Q_OBJECT

public:
    explicit AboutDialog(QWidget* parent);
    static QString versions();
};

} // namespace lathe::ui
