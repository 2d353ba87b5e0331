#pragma once

#include <QToolBar>

QT_BEGIN_NAMESPACE
class QComboBox;
class QLabel;
class QSlider;
class QToolButton;
QT_END_NAMESPACE

namespace lathe::ui {

class Workspace;

/// Shows that a stored run plays back, and steers it: play, pause, speed, place. Seen only while a replay is open.
class ReplayBar final : public QToolBar
{
    Q_OBJECT

public:
    ReplayBar(Workspace& workspace, QWidget* parent);

signals:
    void leaveRequested(); ///< for the project itself
    void runChosen(qint64 run);

private:
    void onOpened();
    void showPlace();
    void playOrPause();
    void goTo(int place);
    Workspace& m_workspace;
    QLabel *m_title = nullptr, *m_place = nullptr;
    QToolButton *m_play = nullptr, *m_leave = nullptr;
    QComboBox *m_speed = nullptr, *m_run = nullptr;
    QSlider* m_slider = nullptr;
    bool m_showing = false; ///< guards against echoes
};

} // namespace lathe::ui
