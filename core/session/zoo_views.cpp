#include "core/frontend/zoo.h"
#include "core/session/session.h"

#include <algorithm>
#include <string_view>

namespace lathe::session {

namespace {

/// What building a network would tell, kept as constants: building all of them takes seconds. tst_zoo_views builds them
/// and compares.
struct Figures
{
    std::string_view name;
    std::string_view input; ///< shape of the first one at batch 1 in the default layout
    double gflop; ///< of its tasks, computed directly: what winograd saves is not taken off
    double millions; ///< values in its weights, in millions
};

constexpr Figures kFigures[] = {
    {"resnet-18", "1x3x224x224", 3.66, 11.70},
    {"resnet-34", "1x3x224x224", 7.36, 21.82},
    {"resnet-50", "1x3x224x224", 7.73, 25.60},
    {"resnet-101", "1x3x224x224", 15.17, 44.64},
    {"resnet-152", "1x3x224x224", 22.60, 60.33},
    {"resnet-200", "1x3x224x224", 29.60, 64.83},
    {"resnet18_v1", "1x3x224x224", 3.64, 11.70},
    {"resnet3d-18", "1x3x16x112x112", 81.85, 33.69},
    {"resnet3d-34", "1x3x16x112x112", 151.23, 64.01},
    {"resnet3d-50", "1x3x16x112x112", 104.47, 48.25},
    {"resnet3d-101", "1x3x16x112x112", 165.64, 87.35},
    {"resnet3d-152", "1x3x16x112x112", 241.22, 119.55},
    {"mobilenet", "1x3x224x224", 1.15, 4.25},
    {"mobilenet-fixed", "1x3x224x224", 1.15, 4.25},
    {"mobilenet-v2", "1x3x224x224", 0.62, 3.54},
    {"mobilenet-v3-large", "1x3x224x224", 0.45, 5.51},
    {"efficientnet-b0", "1x3x224x224", 0.79, 5.33},
    {"shufflenet-v2", "1x3x224x224", 0.29, 2.29},
    {"squeezenet-1.1", "1x3x224x224", 0.71, 1.24},
    {"squeezenet-1.0", "1x3x224x224", 1.69, 1.25},
    {"vgg-11", "1x3x224x224", 15.24, 132.86},
    {"vgg-13", "1x3x224x224", 22.65, 133.05},
    {"vgg-16", "1x3x224x224", 30.97, 138.36},
    {"vgg-19", "1x3x224x224", 39.30, 143.67},
    {"inception-v3", "1x3x299x299", 11.47, 23.87},
    {"densenet-121", "1x3x224x224", 5.68, 8.06},
    {"vit-b16", "1x3x224x224", 35.23, 86.57},
    {"bert-base", "1x128", 22.41, 109.48},
    {"dcgan", "1x100", 3.28, 12.66},
    {"mlp", "1x1x28x28", 0.00022, 0.11},
};

} // namespace

std::vector<ZooView> listZoo()
{
    std::vector<ZooView> views;
    for (const frontend::ZooEntry& entry : frontend::zooList()) {
        ZooView view{entry.name, entry.description, entry.layouts};
        if (const auto* found = std::ranges::find(kFigures, entry.name, &Figures::name); found != std::end(kFigures)) {
            view.input = found->input;
            view.gflop = found->gflop;
            view.weights = found->millions * 1e6;
        }
        views.push_back(std::move(view));
    }
    return views;
}

} // namespace lathe::session
