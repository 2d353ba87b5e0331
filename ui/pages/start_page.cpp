#include "ui/pages/start_page.h"

#include "core/session/session.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

namespace lathe::ui {

StartPage::StartPage(QWidget* parent) : QWidget(parent)
{
    auto* title = new QLabel(tr("Lathe"), this);
    QFont large = title->font();
    large.setPointSizeF(large.pointSizeF() * 2.2);
    large.setBold(true);
    title->setFont(large);
    auto* subtitle = new QLabel(tr("Open a network, tune it for the device it will run on, export a library that is as fast as was measured."), this);
    subtitle->setWordWrap(true);

    auto* model = new QPushButton(tr("Open an ONNX model…"), this);
    model->setObjectName(QStringLiteral("startOpenModel"));
    auto* project = new QPushButton(tr("Open a project…"), this);
    project->setObjectName(QStringLiteral("startOpenProject"));
    connect(model, &QPushButton::clicked, this, &StartPage::openModelRequested);
    connect(project, &QPushButton::clicked, this, &StartPage::openProjectRequested);

    auto* zoo = new QListWidget(this);
    zoo->setObjectName(QStringLiteral("startZoo"));
    zoo->setAccessibleName(tr("Networks of the zoo"));
    for (const session::ZooView& network : session::listZoo()) {
        auto* item = new QListWidgetItem(QString::fromStdString(network.name), zoo);
        item->setToolTip(QString::fromStdString(network.description));
        item->setData(Qt::UserRole, QStringLiteral("zoo:") + QString::fromStdString(network.name));
    }
    m_recent = new QListWidget(this);
    m_recent->setObjectName(QStringLiteral("startRecent"));
    m_recent->setAccessibleName(tr("Recent models and projects"));
    for (QListWidget* list : {zoo, m_recent})
        connect(list, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) { emit sourceChosen(item->data(Qt::UserRole).toString()); });

    auto* hint = new QLabel(tr("Model files and projects can be dropped anywhere in this window."), this);
    hint->setForegroundRole(QPalette::PlaceholderText);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(model);
    buttons->addWidget(project);
    buttons->addStretch();
    auto* grid = new QGridLayout;
    grid->addWidget(new QLabel(tr("Recent (Enter or double-click opens)"), this), 0, 0);
    grid->addWidget(new QLabel(tr("Networks that come with Lathe"), this), 0, 1);
    grid->addWidget(m_recent, 1, 0);
    grid->addWidget(zoo, 1, 1);
    grid->setColumnStretch(0, 3);
    grid->setColumnStretch(1, 2);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(32, 24, 32, 16);
    layout->setSpacing(12);
    layout->addWidget(title);
    layout->addWidget(subtitle);
    layout->addLayout(buttons);
    layout->addLayout(grid, 1);
    layout->addWidget(hint);
}

void StartPage::setRecent(const QStringList& sources)
{
    m_recent->clear();
    for (const QString& source : sources) {
        auto* item = new QListWidgetItem(source.startsWith(QStringLiteral("zoo:")) ? source : QFileInfo(source).fileName(), m_recent);
        item->setToolTip(source);
        item->setData(Qt::UserRole, source);
    }
}

} // namespace lathe::ui
