#include "core/session/session.h"
#include "ui/models/graph_find.h"
#include "ui/views/graph_layouter.h"
#include "ui/views/graph_view.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QScrollBar>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <ctime>

/// How long the graph of a network takes to open and to lay out, and the processor's time for each frame while it is
/// panned, at 1280x800.
///
///     bench_graph_view [MODEL...]    without one: a network of 8,000 nodes

using namespace lathe;

namespace {

constexpr int kFrames = 200;

/// Residual blocks with four branches, in stages, and a mask that all of them use: nothing that can be cut or repeats
/// all over.
std::shared_ptr<const session::GraphView> large(int nodes)
{
    auto graph = std::make_shared<session::GraphView>();
    graph->name = "synthetic";
    const auto add = [&](const char* op, const std::vector<int>& inputs, int function, int task) {
        session::NodeView view;
        view.id = static_cast<int>(graph->nodes.size());
        view.name = std::string("layer") + std::to_string(view.id / 100) + '/' + op + std::to_string(view.id);
        view.op = op;
        view.task = task;
        view.subgraph = function;
        view.outputs = {{"out", "float32", {1, 64 + view.id / 500, 56, 56}}};
        graph->nodes.push_back(view);
        for (const int input : inputs)
            graph->edges.push_back({input, view.id, {}});
        return view.id;
    };
    const int mask = add("input", {}, -1, -1);
    int at = mask;
    int function = 0;
    while (static_cast<int>(graph->nodes.size()) < nodes) {
        std::vector<int> branches{at};
        for (int b = 0; b < 4; ++b, ++function) {
            const int task = (static_cast<int>(graph->nodes.size()) / 500) * 4 + b;
            const int conv = add("conv2d", {at}, function, task);
            branches.push_back(add("relu", {add("add", {conv}, function, task)}, function, task));
        }
        at = add("concat", branches, -1, -1);
        if (graph->nodes.size() % 7 == 0)
            at = add("multiply", {at, mask}, -1, -1);
    }
    return graph;
}

double layoutMs(ui::GraphView& view, const std::function<void()>& change)
{
    QEventLoop loop;
    QObject::connect(&view, &ui::GraphView::layoutReady, &loop, &QEventLoop::quit);
    QObject::connect(&view, &ui::GraphView::layoutFailed, &loop, [&loop](const QString& sentence) {
        std::printf("    %s\n", qPrintable(sentence));
        loop.quit();
    });
    QElapsedTimer clock;
    clock.start();
    change();
    if (view.layouter().isWaiting())
        loop.exec();
    return static_cast<double>(clock.nsecsElapsed()) / 1e6;
}

void printFrames(ui::GraphView& view, const char* what)
{
    std::vector<double> ms;
    for (int f = 0; f < kFrames; ++f) {
        view.verticalScrollBar()->setValue((view.verticalScrollBar()->value() + 29)
                                           % std::max(1, view.verticalScrollBar()->maximum()));
        view.horizontalScrollBar()->setValue((view.horizontalScrollBar()->value() + 7)
                                             % std::max(1, view.horizontalScrollBar()->maximum()));
        const std::clock_t before = std::clock(); // of this process alone: others must not count
        view.viewport()->repaint();
        ms.push_back(1e3 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC);
    }
    std::sort(ms.begin(), ms.end());
    std::printf("    %-18s frame: median %.2f ms, 95 %% below %.2f ms, longest %.1f ms\n", what, ms[kFrames / 2],
                ms[kFrames * 95 / 100], ms.back());
}

void measure(const std::shared_ptr<const session::GraphView>& graph)
{
    QTemporaryDir cache;
    ui::GraphView view;
    view.layouter().setCacheFolder(cache.path());
    view.resize(1280, 800);
    view.show();
    QElapsedTimer clock;
    clock.start();
    view.setGraph(graph);
    view.viewport()->repaint();
    const double opened = static_cast<double>(clock.nsecsElapsed()) / 1e6;
    std::printf("%s: %zu nodes, opened in %.0f ms\n", graph->name.c_str(), graph->nodes.size(), opened);
    const auto items = [&] { return static_cast<int>(view.scene().visible().items.size()); };
    const double first = layoutMs(view, [&] { view.setGraph(graph); });
    std::printf("    at first: %d items, %zu edges, %zu frames, laid out in %.0f ms, from the cache in %.1f ms\n",
                items(), view.scene().visible().edges.size(), view.scene().visible().frames.size(), first,
                layoutMs(view, [&] { view.setGraph(graph); }));
    printFrames(view, "full size");
    const double all = layoutMs(view, [&] { view.unfoldAll(); });
    std::printf("    unfolded: %d items, %zu edges, %zu frames, laid out in %.0f ms\n", items(),
                view.scene().visible().edges.size(), view.scene().visible().frames.size(), all);
    for (const double scale : {1.0, 0.5, 0.35, 0.2}) {
        view.zoom(scale / view.scale(), {});
        printFrames(view, qPrintable(QStringLiteral("at %1 %").arg(scale * 100)));
    }
    view.zoomToFit();
    printFrames(view, qPrintable(QStringLiteral("whole, at %1 %").arg(view.scale() * 100, 0, 'f', 1)));
    ui::GraphFind find;
    clock.start();
    find.setGraph(graph);
    (void)find.find(QStringLiteral("conv 1x64"));
    const double prepared = static_cast<double>(clock.nsecsElapsed()) / 1e6;
    clock.start();
    const std::size_t found = find.find(QStringLiteral("relu 1x64")).size();
    std::printf("    find: first %.1f ms, then %.1f ms (%zu found)\n", prepared,
                static_cast<double>(clock.nsecsElapsed()) / 1e6, found);
}

} // namespace

int main(int argc, char** argv)
{
    qputenv("QT_QPA_PLATFORM", "offscreen");
    QApplication app(argc, argv);
    if (argc == 1)
        measure(large(8000));
    for (int i = 1; i < argc; ++i) {
        session::OpenOptions options;
        options.model.source = argv[i];
        const auto session = session::TuningSession::open(options);
        if (!session) {
            std::fprintf(stderr, "%s: %s\n", argv[i], session.error().message.c_str());
            return 1;
        }
        auto graph = std::make_shared<session::GraphView>(*(*session)->graph());
        graph->name = argv[i];
        measure(graph);
    }
    return 0;
}
