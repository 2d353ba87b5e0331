#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QtTest>

namespace tst_arrows {

/// Keeps the arrows of the house true (core/README.md): who may include what.
class TestArrows : public QObject
{
    Q_OBJECT

    struct Include
    {
        QString file; ///< relative to the root
        QString what; ///< between the quotes or brackets
        bool system = false;
    };
    QVector<Include> m_includes;
    const QStringList m_core = {"runtime", "support", "wire",     "broker",   "serve",  "ir",     "target",
                                "compute", "graph",   "frontend", "schedule", "record", "search", "templates",
                                "policy",  "backend", "measure",  "store",    "deploy", "session"};

    QMap<QString, QSet<QString>> m_edges; ///< as CMake links the folders: "core/ir" to "core/support"

    /// core/<folder> and app/<folder> of a file in it, else the folder at the top.
    static QString roomOf(const QString& file)
    {
        const bool deep = file.startsWith("core/") || file.startsWith("app/");
        return file.section('/', 0, deep ? 1 : 0);
    }

    /// Rank of core/<folder>/..., -1: not in core.
    int rank(const QString& path) const
    {
        return path.startsWith("core/") ? static_cast<int>(m_core.indexOf(path.section('/', 1, 1))) : -1;
    }

    template<typename Allowed>
    void check(Allowed allowed)
    {
        QStringList wrong;
        for (const Include& include : m_includes)
            if (!allowed(include))
                wrong << include.file + " includes " + include.what;
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join('\n')));
    }

private slots:
    void initTestCase()
    {
        const QDir root(LATHE_SOURCE_DIR);
        const QRegularExpression line(QStringLiteral("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]"),
                                      QRegularExpression::MultilineOption);
        for (const char* top : {"app", "core", "ui", "plugins"}) {
            QDirIterator it(root.filePath(QString::fromLatin1(top)), {"*.h", "*.cpp", "*.c"}, QDir::Files,
                            QDirIterator::Subdirectories);
            while (it.hasNext()) {
                QFile file(it.next());
                QVERIFY(file.open(QIODevice::ReadOnly));
                const QString name = root.relativeFilePath(file.fileName());
                auto match = line.globalMatch(QString::fromUtf8(file.readAll()));
                while (match.hasNext()) {
                    const auto m = match.next();
                    m_includes.push_back({name, m.captured(2), m.captured(1) == "<"});
                }
            }
        }
        QVERIFY2(m_includes.size() > 500, "the walk must find the tree");
        QFile arrows(QStringLiteral(LATHE_ARROWS));
        QVERIFY(arrows.open(QIODevice::ReadOnly));
        const QStringList lines = QString::fromUtf8(arrows.readAll()).split('\n', Qt::SkipEmptyParts);
        for (const QString& edge : lines) {
            const QString room = edge.section(':', 0, 0);
            if (roomOf(room) != room && !room.startsWith("ui"))
                continue; // halves of plugins and helpers of tests: below
            for (const QString& to : edge.section(':', 1).split(' ', Qt::SkipEmptyParts))
                m_edges[room] << (to == "ui" ? to : "core/" + to);
        }
        QVERIFY2(m_edges.size() > 20, "the edges must be found");
    }

    void ourHeadersAreIncludedByFullPath()
    {
        check([](const Include& i) {
            return i.system || i.what.contains('/') || i.what.endsWith(".moc") || i.what.startsWith("ui_")
                   || i.what.endsWith(".pb.h");
        });
    }

    void coreIsMadeOfTheFoldersInTheList()
    {
        for (const Include& i : m_includes)
            QVERIFY2(!i.file.startsWith("core/") || rank(i.file) >= 0,
                     qPrintable(i.file + " is in no folder of the list"));
    }

    /// What the targets link is what their files include, no more and no less.
    void includesAreTheEdgesOfTheTargets()
    {
        QMap<QString, QSet<QString>> included;
        for (const Include& i : m_includes) {
            const QString from = roomOf(i.file), to = roomOf(i.what);
            if (m_edges.contains(from) && to.startsWith("core/") && from != to)
                included[from] << to;
        }
        QStringList wrong;
        for (auto room = m_edges.begin(); room != m_edges.end(); ++room) {
            for (const QString& to : *room - included.value(room.key()))
                if (to.startsWith("core/"))
                    wrong << room.key() + " links " + to + " and includes nothing of it";
            for (const QString& to : included.value(room.key()) - *room)
                wrong << room.key() + " includes files of " + to + " and does not link it";
        }
        QVERIFY2(wrong.isEmpty(), qPrintable("\n" + wrong.join('\n')));
    }

    void edgesOfCoreRunUpTheList()
    {
        for (auto room = m_edges.begin(); room != m_edges.end(); ++room)
            for (const QString& to : *room)
                QVERIFY2(rank(room.key()) < 0 || (rank(to) >= 0 && rank(to) < rank(room.key())),
                         qPrintable(room.key() + " links " + to));
    }

    /// What programs and the window may link of core.
    void edgesOfProgramsAreThoseOfTheDesign()
    {
        const int last = static_cast<int>(m_core.size()) - 1;
        const QMap<QString, int> lowest = {{"app/builder", static_cast<int>(m_core.indexOf("backend"))},
                                           {"app/runner", static_cast<int>(m_core.indexOf("serve"))},
                                           {"app/cli", last},
                                           {"app/workbench", last}};
        for (auto room = lowest.begin(); room != lowest.end(); ++room) {
            QVERIFY2(m_edges.contains(room.key()), qPrintable(room.key()));
            for (const QString& to : m_edges[room.key()])
                QVERIFY2(to == "ui" || rank(to) <= *room, qPrintable(room.key() + " links " + to));
        }
        QVERIFY(m_edges.contains("ui"));
        for (const QString& to : m_edges["ui"])
            QVERIFY2(to == "core/session" || to == "core/record", qPrintable("ui links " + to));
    }

    void nothingIncludesTheWindowProgramsOrPlugins()
    {
        check([](const Include& i) {
            const bool inUi = i.file.startsWith("ui/") || i.file.startsWith("app/workbench/");
            return (!i.what.startsWith("ui/") || inUi) && (!i.what.startsWith("app/") || i.file.startsWith("app/"))
                   && (!i.what.startsWith("plugins/") || i.file.startsWith("plugins/"));
        });
    }

    void aPluginSeesItselfAlone()
    {
        check([](const Include& i) {
            return !i.file.startsWith("plugins/") || !i.what.startsWith("plugins/")
                   || i.file.section('/', 1, 1) == i.what.section('/', 1, 1);
        });
    }

    void theWindowSeesSessionAndRecordAlone()
    {
        check([](const Include& i) {
            return !i.file.startsWith("ui/") || !i.what.startsWith("core/") || i.what.startsWith("core/session/")
                   || i.what.startsWith("core/record/");
        });
    }

    void uiArrowsRunFromShellToBridge()
    {
        const QStringList order = {"bridge", "models", "views", "commands", "dialogs", "pages", "shell"};
        check([&order](const Include& i) {
            if (!i.file.startsWith("ui/") || !i.what.startsWith("ui/"))
                return true;
            return order.indexOf(i.what.section('/', 1, 1)) <= order.indexOf(i.file.section('/', 1, 1));
        });
    }

    void qtStaysInTheWindow()
    {
        const QRegularExpression qt(QStringLiteral("^Q[A-Z]|^Qt"));
        check([&qt](const Include& i) {
            return !qt.match(i.what).hasMatch() || i.file.startsWith("ui/") || i.file.startsWith("app/workbench/");
        });
    }

    void llvmStaysInPluginsCpu()
    {
        check([](const Include& i) {
            return !(i.what.startsWith("llvm/") || i.what.startsWith("lld/"))
                   || i.file.startsWith("plugins/cpu/codegen/");
        });
    }

    void heavyLibrariesHaveOneRoomEach()
    {
        const QMap<QString, QString> rooms = {{"sqlite3.h", "core/store/"}, {"nats/", "core/broker/"},
                                              {"xgboost/", "core/search/"}, {"CL/", "plugins/opencl/device/"},
                                              {"tbb/", "core/session/"},    {"oneapi/", "core/session/"}};
        check([&rooms](const Include& i) {
            for (auto room = rooms.begin(); room != rooms.end(); ++room)
                if (i.what.startsWith(room.key()) && !i.file.startsWith(room.value()))
                    return false;
            return true;
        });
    }

    /// A project may come from anybody, and XGBoost's own readers crash on bytes that are not theirs: what is stored of
    /// a cost model is for others to read.
    void noStoredBytesReachTheReaderOfAnotherLibrary()
    {
        int files = 0;
        for (const char* folder : {"core", "plugins", "app", "ui"}) {
            QDirIterator sources(QStringLiteral(LATHE_SOURCE_DIR "/") + QLatin1String(folder),
                                 {QStringLiteral("*.cpp"), QStringLiteral("*.h")}, QDir::Files,
                                 QDirIterator::Subdirectories);
            while (sources.hasNext()) {
                QFile file(sources.next());
                QVERIFY(file.open(QIODevice::ReadOnly));
                const QByteArray text = file.readAll();
                files += text.contains("XGBooster") ? 1 : 0;
                for (const char* reader : {"XGBoosterLoadModel", "XGBoosterUnserialize", "XGBoosterLoadJson"})
                    QVERIFY2(!text.contains(reader), qPrintable(file.fileName()));
            }
        }
        QCOMPARE(files, 1);
    }

    /// Halves are folders (plugins/cpu/device; what ships in libraries is as narrow) or, in a plugin of one folder,
    /// files named in the list.
    static QString half(const QString& file)
    {
        static const QMap<QString, QString> files = {
            {"plugins/sim/device.cpp", "device"},       {"plugins/sim/fault.h", "device"},
            {"plugins/sim/interpreter.h", "device"},    {"plugins/sim/interpreter.cpp", "device"},
            {"plugins/sim/launch_machine.h", "device"}, {"plugins/sim/launch_machine.cpp", "device"},
            {"plugins/sim/machine.h", "device"},        {"plugins/sim/machine.cpp", "device"},
            {"plugins/sim/program.h", "device"},        {"plugins/sim/values.h", "device"}};
        if (!file.startsWith("plugins/"))
            return {};
        if (files.contains(file))
            return files[file];
        const QString folder = file.section('/', 2, 2);
        return folder == "device" || folder == "library" ? QStringLiteral("device") : QStringLiteral("codegen");
    }

    void deviceHalvesSeeTheRuntimeAlone()
    {
        int files = 0;
        for (const Include& i : m_includes)
            files += half(i.file) == "device" && i.what.startsWith("core/runtime/") ? 1 : 0;
        QVERIFY2(files > 5, "the device halves must be found");
        check([](const Include& i) {
            if (half(i.file) != "device")
                return true;
            if (i.what.startsWith("plugins/"))
                return half(i.what) == "device";
            return !i.what.startsWith("core/") || i.what.startsWith("core/runtime/");
        });
    }

    void codegenHalvesAndTheBuilderSeeBackendAndAbove()
    {
        check([this](const Include& i) {
            return (half(i.file) != "codegen" && !i.file.startsWith("app/builder/"))
                   || rank(i.what) <= m_core.indexOf("backend");
        });
    }
};

LATHE_TEST(TestArrows)

} // namespace tst_arrows

#include "tst_arrows.moc"
