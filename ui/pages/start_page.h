#pragma once

#include "ui/models/recent_projects.h"

#include <QScrollArea>

QT_BEGIN_NAMESPACE
class QFrame;
class QGridLayout;
class QHBoxLayout;
class QLabel;
class QListWidget;
class QPushButton;
QT_END_NAMESPACE

namespace lathe::ui {

class StepCurve;

/// What one can do, and what was done last. Scrolls where the window is small.
class StartPage final : public QScrollArea
{
    Q_OBJECT

public:
    explicit StartPage(QWidget* parent = nullptr);
    void setRecent(const QVector<RecentProject>& projects);

signals:
    void openModelRequested();
    void openProjectRequested();
    void openReplayRequested();
    void importLogRequested();
    void replayChosen(const QString& source); ///< a recent one's latest run
    void sourceChosen(const QString& source); ///< a recent file, or zoo:NAME
    /// The latest project was chosen; `goOn`: its run is to be continued, too.
    void resumeChosen(const QString& source, const QString& target, bool goOn);
    void forgetChosen(const QString& source);

private:
    QFrame* makeCard(QWidget* page);
    QHBoxLayout* makeButtons(QWidget* page);
    QGridLayout* makeLists(QWidget* page);
    void makeRecentMenu();
    void forget();
    void retranslate();
    void fill();
    void fillZoo();
    QVector<RecentProject> m_projects;
    QList<session::ZooView> m_networks; ///< in the order of their list
    QFrame* m_card = nullptr;
    QLabel* m_cardTitle = nullptr;
    QLabel* m_cardText = nullptr;
    StepCurve* m_cardCurve = nullptr;
    QPushButton* m_resume = nullptr;
    bool m_canGoOn = false;
    QLabel *m_subtitle = nullptr, *m_recentLabel = nullptr, *m_zooLabel = nullptr, *m_hint = nullptr;
    QPushButton *m_model = nullptr, *m_project = nullptr, *m_replay = nullptr, *m_log = nullptr;
    QListWidget *m_recent = nullptr, *m_zoo = nullptr;
};

} // namespace lathe::ui
