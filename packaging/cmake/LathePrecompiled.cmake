# The headers that are read most, made once per group of targets (LATHE_PCH).

if(LATHE_PCH)
    set(LATHE_STD_HEADERS <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional> <set> <span>
        <string> <string_view> <unordered_map> <utility> <variant> <vector>)
    lathe_precompiled(lathe_core_headers HEADERS ${LATHE_STD_HEADERS} <stop_token> <fmt/format.h> <nlohmann/json.hpp>
        LIBS fmt::fmt nlohmann_json::nlohmann_json)
    if(LATHE_BUILD_UI)
        lathe_precompiled(lathe_ui_headers HEADERS ${LATHE_STD_HEADERS} <QtWidgets/QtWidgets> LIBS Qt6::Widgets)
        target_compile_definitions(lathe_ui_headers PRIVATE QT_NO_CAST_FROM_ASCII QT_NO_FOREACH)
    endif()
    if(LATHE_BUILD_TESTS)
        lathe_precompiled(lathe_test_headers HEADERS ${LATHE_STD_HEADERS} <QtCore/QtCore> <QtTest/QTest> LIBS fmt::fmt Qt6::Test)
        if(LATHE_BUILD_UI)
            lathe_precompiled(lathe_ui_test_headers HEADERS ${LATHE_STD_HEADERS} <QtWidgets/QtWidgets> <QtTest/QTest> LIBS fmt::fmt Qt6::Widgets Qt6::Test)
        endif()
    endif()
endif()
