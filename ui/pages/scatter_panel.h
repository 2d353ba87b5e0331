#pragma once

#include "ui/models/history_reader.h"

#include <QMenu>
#include <QWidget>

QT_BEGIN_NAMESPACE
class QComboBox;
class QLabel;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class ScatterView;

/// The listed trials as points of two of their numbers. Reads only while it is visible. An axis is logarithmic where
/// its values span more than a decade, until somebody chooses otherwise for what it shows.
class ScatterPanel final : public QWidget
{
    Q_OBJECT

public:
    explicit ScatterPanel(QWidget* parent);

    void setHistory(std::unique_ptr<session::History> history);
    void setQuery(const session::TrialQuery& query);
    void setMarked(std::int64_t row);
    /// Trials were added: read again when there is time.
    void refresh();

signals:
    void picked(qint64 row);
    void menuAboutToShow(QMenu* menu, qint64 row); ///< 0: at no trial

protected:
    void showEvent(QShowEvent* event) override;

private:
    void read();
    void setAxes();
    void suit(const std::vector<double>& x, const std::vector<double>& y);
    void makeWidgets();
    void retranslate();
    session::TrialAxis axis(const QComboBox* box) const;

    HistoryReader m_reader;
    session::TrialQuery m_query;
    Job m_asked;
    ScatterView* m_view = nullptr;
    QComboBox *m_x = nullptr, *m_y = nullptr;
    QToolButton *m_logX = nullptr, *m_logY = nullptr, *m_all = nullptr;
    QLabel *m_summary = nullptr, *m_upright = nullptr, *m_across = nullptr;
    bool m_stale = true;
};

} // namespace lathe::ui
