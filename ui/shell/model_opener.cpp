#include "ui/shell/model_opener.h"

#include "ui/dialogs/input_sizes_dialog.h"
#include "ui/dialogs/manual_window.h"
#include "ui/models/workspace.h"

#include <QFileInfo>

#include <algorithm>

namespace lathe::ui {

namespace {

bool isFile(const QString& source)
{
    return !source.startsWith(QStringLiteral("zoo:"));
}

bool isComplete(const frontend::OpenInputs& open)
{
    return open.shapeless.empty() && std::ranges::all_of(open.dimensions, [](const frontend::OpenDimension& dimension) {
               return dimension.size.has_value();
           });
}

session::ModelSpec specOf(const QString& source)
{
    session::ModelSpec spec;
    if (!source.endsWith(QStringLiteral(".lathe")))
        spec.source = source.toStdString();
    return spec;
}

} // namespace

ModelOpener::ModelOpener(Workspace& workspace, QWidget& window)
    : QObject(&window)
    , m_workspace(workspace)
    , m_window(window)
{
}

void ModelOpener::forget()
{
    m_reading.drop();
    if (m_dialog != nullptr) {
        m_dialog->disconnect(this);
        m_dialog->close();
    }
}

void ModelOpener::open(const QString& source, const QString& target)
{
    forget();
    if (isFile(source) && !source.endsWith(QStringLiteral(".lathe")))
        read(source, target, false);
    else
        m_workspace.open(source, target); // a project knows the sizes of its model
}

void ModelOpener::askFor(const QString& source, const QString& target)
{
    forget();
    read(source, target, true);
}

/// `always`: asks even where all is known.
void ModelOpener::read(const QString& source, const QString& target, bool always)
{
    session::ModelSpec spec = specOf(source);
    const session::TuningSession* const session = m_workspace.session();
    if (session != nullptr && m_workspace.source() == source)
        session::takeSizes(session->options().model, spec); // opened anew, for another target
    m_reading = m_jobs.run(
        [spec, project = Workspace::projectFor(source).toStdString()](const JobLink&) {
            auto open = session::readInputSizes(spec, project);
            session::ModelSpec plain = spec;
            session::takeSizes({}, plain);
            if (!open && session::saysSizes(spec)) // the file may have been written anew
                open = session::readInputSizes(plain, project);
            return open;
        },
        [this, source, target, spec, always](const Result<frontend::OpenInputs>& open) {
            session::ModelSpec sizes;
            if (open && (always || !isComplete(*open)) && !(open->dimensions.empty() && open->shapeless.empty())) {
                ask(source, target, *open);
                return;
            }
            if (open && always) {
                m_workspace.addIssue({QStringLiteral("InvalidArgument"), QFileInfo(source).fileName(),
                                      tr("All input sizes are fixed in the model")});
                emit givenUp();
                return;
            }
            if (open && !spec.source.empty())
                sizes.sizes = frontend::sizesOf(open->dimensions);
            m_workspace.open(source, target, sizes); // which says what is wrong with it, if something is
        });
}

void ModelOpener::ask(const QString& source, const QString& target, const frontend::OpenInputs& open)
{
    const QString name = QFileInfo(source).fileName();
    m_dialog = new InputSizesDialog(name, open, &m_window);
    ManualWindow::setTopic(m_dialog, QStringLiteral("input-sizes"));
    connect(m_dialog, &QDialog::accepted, this, [this, source, target] {
        session::ModelSpec sizes;
        sizes.sizes = m_dialog->sizes();
        sizes.shapes = m_dialog->shapes();
        m_dialog = nullptr;
        m_workspace.open(source, target, sizes);
    });
    connect(m_dialog, &QDialog::rejected, this, [this, source, name] {
        m_dialog = nullptr;
        const QString stays = QFileInfo(m_workspace.source()).fileName();
        if (m_workspace.session() == nullptr || m_workspace.source() != source)
            m_workspace.addIssue({QStringLiteral("Cancelled"),
                                  name,
                                  stays.isEmpty() || m_workspace.session() == nullptr
                                      ? tr("Not opened: no input sizes were chosen")
                                      : tr("Not opened: no input sizes were chosen; %1 stays open").arg(stays),
                                  -1,
                                  1,
                                  {},
                                  {IssueAction::Kind::InputSizes, source}});
        emit givenUp();
    });
    m_dialog->open();
}

} // namespace lathe::ui
