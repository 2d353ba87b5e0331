#include "ui/pages/compare_page.h"

#include "core/session/comparison.h"
#include "ui/bridge/session_bridge.h"
#include "ui/models/compare_model.h"
#include "ui/models/language.h"
#include "ui/models/texts.h"
#include "ui/models/workspace.h"
#include "ui/views/table_view.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QThreadPool>
#include <QVBoxLayout>

#include <memory>

namespace lathe::ui {

namespace {

constexpr int kRefreshMs = 5000;

struct Answer
{
    Errc code = Errc::Ok;
    QString error;
    session::Standing before, after;
};

} // namespace

ComparePage::ComparePage(Workspace& workspace, QWidget* parent) : QWidget(parent), m_workspace(workspace)
{
    setObjectName(QStringLiteral("comparePage"));
    m_model = new CompareModel(this);
    m_table = new TableView("compareTable", this);
    m_table->setModel(m_model);
    const int widths[] = {260, 70, 100, 100, 90, 140};
    for (int column = 0; column < CompareModel::ColumnCount; ++column)
        m_table->setColumnWidth(column, widths[column]);
    m_table->restoreColumns();
    m_choose = new QPushButton(this);
    m_choose->setObjectName(QStringLiteral("compareChoose"));
    m_summary = new QLabel(this);
    m_summary->setObjectName(QStringLiteral("compareSummary"));
    m_summary->setWordWrap(true);
    m_unlike = new QLabel(this);
    m_unlike->setObjectName(QStringLiteral("compareUnlike"));
    m_unlike->setWordWrap(true);
    m_unlike->hide();
    auto* row = new QHBoxLayout;
    row->addWidget(m_summary, 1);
    row->addWidget(m_choose);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->addLayout(row);
    layout->addWidget(m_unlike);
    layout->addWidget(m_table, 1);
    m_refresh.setSingleShot(true);
    m_refresh.setInterval(kRefreshMs);
    connect(&m_refresh, &QTimer::timeout, this, &ComparePage::read);
    connect(m_choose, &QPushButton::clicked, this, &ComparePage::browse);
    connect(&m_workspace.bridge(), &SessionBridge::opened, this, &ComparePage::read);
    connect(&m_workspace.bridge(), &SessionBridge::eventsArrived, this, [this] {
        if (!m_base.isEmpty() && isVisible() && !m_refresh.isActive())
            m_refresh.start();
    });
    retranslated(this, [this] {
        m_table->setAccessibleName(tr("Tasks before and now"));
        m_choose->setText(tr("&Compare with…"));
        m_choose->setToolTip(tr("Choose an earlier project of the same network"));
        if (m_base.isEmpty())
            m_summary->setText(tr("Choose an earlier project to see what became faster or slower."));
    });
}

void ComparePage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    read();
}

void ComparePage::browse()
{
    compareWith(QFileDialog::getOpenFileName(this, tr("Compare with a project"), {}, tr("Projects (*.lathe)")));
}

void ComparePage::compareWith(const QString& file)
{
    if (file.isEmpty())
        return;
    m_base = file;
    read();
}

void ComparePage::read()
{
    const session::TuningSession* session = m_workspace.session();
    if (m_base.isEmpty() || session == nullptr || m_reading || !isVisible())
        return;
    m_reading = true;
    QThreadPool::globalInstance()->start([self = QPointer(this), base = m_base.toStdString(), now = session->options().project, app = QPointer<QObject>(&m_workspace)] {
        auto answer = std::make_shared<Answer>();
        const auto take = [&answer](Result<session::Standing> standing, session::Standing& into) {
            if (standing) {
                into = *std::move(standing);
                return true;
            }
            answer->code = standing.error().code;
            answer->error = QString::fromStdString(standing.error().message);
            return false;
        };
        if (take(session::standing(base), answer->before))
            take(session::standing(now), answer->after);
        if (!app)
            return;
        QMetaObject::invokeMethod(app.data(), [self, answer] {
            if (!self)
                return;
            self->m_reading = false;
            if (!answer->error.isEmpty()) {
                self->m_base.clear();
                self->m_summary->setText(answer->error);
                self->m_model->setComparison({});
                return;
            }
            self->m_model->setComparison(session::compare(answer->before, answer->after));
            const session::Comparison& c = self->m_model->comparison();
            const QString name = QFileInfo(self->m_base).fileName();
            self->m_summary->setText(c.beforeMs > 0 ? tr("Against %1: %2 before, %3 now (%4%5 %), tasks that both have valid records for")
                                                          .arg(name, msText(c.beforeMs), msText(c.afterMs), c.afterMs > c.beforeMs ? QStringLiteral("+") : QString())
                                                          .arg(100 * (c.afterMs / c.beforeMs - 1), 0, 'f', 1)
                                                    : tr("%1 has no task in common with this project that both have valid records for").arg(name));
            QStringList unlike;
            for (const std::string& sentence : c.unlike)
                unlike << QString::fromStdString(sentence);
            self->m_unlike->setText(tr("The figures may not compare: %1").arg(unlike.join(QStringLiteral("; "))));
            self->m_unlike->setVisible(!unlike.isEmpty());
        }, Qt::QueuedConnection);
    });
}

} // namespace lathe::ui
