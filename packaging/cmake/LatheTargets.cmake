# The functions that make every target. Warnings and sanitizers sit on one interface target, lathe_options.

add_library(lathe_options INTERFACE)
target_compile_features(lathe_options INTERFACE cxx_std_20)
target_include_directories(lathe_options INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_compile_options(lathe_options INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Woverloaded-virtual -Wsuggest-override)
if(LATHE_SANITIZE)
    target_compile_options(lathe_options INTERFACE -fsanitize=${LATHE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(lathe_options INTERFACE -fsanitize=${LATHE_SANITIZE})
endif()
if(LATHE_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "LATHE_FUZZ needs clang, which has libFuzzer: use the preset fuzz (packages: packaging/dependencies, section fuzz)")
    endif()
    # A finding ends the program, so that libFuzzer keeps the input.
    target_compile_options(lathe_options INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize-recover=all)
    target_link_options(lathe_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
find_program(LATHE_MOLD mold)
if(LATHE_MOLD)
    target_link_options(lathe_options INTERFACE -fuse-ld=mold)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# lathe_join_sources(target COUNT): COUNT files are compiled as one where all is built at once (LATHE_UNITY), so that each header is read, and
# each template of JSON, fmt and Qt made, once for them. (Precompiled headers gained little on top, or lost: tests/bench/README.md.)
function(lathe_join_sources target count)
    if(LATHE_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
        # Types of an anonymous namespace stand in a file that includes the others, which GCC takes for a header.
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
endfunction()

# lathe_link_rooms(lathe-cli session support): links folders of core, and notes the arrow for the test that holds them against the
# includes (tests/core/tst_arrows): what a folder links is what its files include, no more and no less.
function(lathe_link_rooms target)
    foreach(room ${ARGN})
        target_link_libraries(${target} PUBLIC lathe_${room})
    endforeach()
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
    string(REPLACE ";" " " rooms "${ARGN}")
    set_property(GLOBAL APPEND PROPERTY LATHE_ARROWS "${folder}: ${rooms}")
endfunction()

# lathe_write_arrows(): build/arrows.txt, a line per target.
function(lathe_write_arrows)
    get_property(arrows GLOBAL PROPERTY LATHE_ARROWS)
    list(JOIN arrows "\n" text)
    file(WRITE "${CMAKE_BINARY_DIR}/arrows.txt" "${text}\n")
endfunction()

# lathe_add_library(runtime SOURCES a.cpp ... DEPS support ... LIBS fmt::fmt ...)
# One target per folder of core: the static archive lathe_<name>.
# APART: never joined, since programs take single files out of the archive.
# DEPS are folders of core, LIBS third-party targets used privately, PUBLIC_LIBS those seen in headers.
function(lathe_add_library name)
    cmake_parse_arguments(ARG "APART" "" "SOURCES;DEPS;LIBS;PUBLIC_LIBS" ${ARGN})
    add_library(lathe_${name} STATIC ${ARG_SOURCES})
    target_link_libraries(lathe_${name} PUBLIC lathe_options ${ARG_PUBLIC_LIBS} PRIVATE ${ARG_LIBS})
    lathe_link_rooms(lathe_${name} ${ARG_DEPS})
    if(NOT ARG_APART)
        lathe_join_sources(lathe_${name} 12)
    endif()
endfunction()

# lathe_add_plugin(cpu_codegen SOURCES ... DEPS ... LIBS ...): lib/lathe/plugins/<name>.so
function(lathe_add_plugin name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
    add_library(lathe_plugin_${name} MODULE ${ARG_SOURCES})
    target_link_libraries(lathe_plugin_${name} PRIVATE lathe_options ${ARG_DEPS} ${ARG_LIBS})
    set_target_properties(lathe_plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
        LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/lathe/plugins")
    # As a file: its run path names no folder of the build. And where programs look, whatever the system's lib is.
    install(FILES "$<TARGET_FILE:lathe_plugin_${name}>" DESTINATION lib/lathe/plugins)
endfunction()

# lathe_add_test_program(session_tests SOURCES helper.cpp DEPS session LIBS ...): a program for the test classes of a folder. One for all,
# since each would cost a link and Qt's headers once more. lathe_add_test() adds the classes.
function(lathe_add_test_program name)
    cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
    add_executable(${name} "${PROJECT_SOURCE_DIR}/tests/support/test_program.cpp" ${ARG_SOURCES})
    list(TRANSFORM ARG_DEPS PREPEND lathe_)
    target_link_libraries(${name} PRIVATE lathe_options ${ARG_DEPS} ${ARG_LIBS} Qt6::Test)
    # Half of what is compiled are tests: this takes a fifth less of a compiler's time, and what they test is optimized as ever.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    # What tests are compiled from is mostly headers: 24 of them in one piece took half the time of four pieces, and 1.6 GB.
    lathe_join_sources(${name} 18)
    target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/moc")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endfunction()

# lathe_set_test(NAME LABEL unit TIMEOUT 120 ENVIRONMENT ...): how ctest runs a test that was added: 120 s at most if nothing is said.
# Labels: unit, conformance, ui, integration, fault, bench, gpu.
# WAITS: nearly all of its time it waits, for devices that fall silent and the like. It takes one of ctest's jobs (-j) and others two, so that
# it runs beside one test for each core (packaging/test); it begins early, as those do that may take long.
function(lathe_set_test name)
    cmake_parse_arguments(ARG "WAITS" "LABEL;TIMEOUT" "ENVIRONMENT" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 120)
    endif()
    if(LATHE_SANITIZE) # code is ten times as slow
        math(EXPR ARG_TIMEOUT "10 * ${ARG_TIMEOUT}")
    endif()
    # QtTest ends a function that hangs, and shows where all threads are if gdb is there; ctest would only end the program.
    math(EXPR function_ms "${ARG_TIMEOUT} * 1000 * 5 / 6")
    set(jobs 2)
    set(cost ${ARG_TIMEOUT})
    if(ARG_WAITS)
        set(jobs 1)
        math(EXPR cost "100 * ${ARG_TIMEOUT}")
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${jobs} COST ${cost}
        ENVIRONMENT "QTEST_FUNCTION_TIMEOUT=${function_ms};${ARG_ENVIRONMENT}")
endfunction()

# lathe_add_test(tst_result IN support_tests LABEL unit): the test class of tst_result.cpp, of a program made before. ctest runs it in a process
# of its own. What else it takes: lathe_set_test().
function(lathe_add_test name)
    cmake_parse_arguments(ARG "" "IN" "" ${ARGN})
    # By itself and not by AUTOMOC, for which moc reads all headers for each class: 0.9 s of a processor instead of 7 ms. The text is the same,
    # but that Qt looks up a type when it is needed which it would have known from a header.
    set(definitions "$<TARGET_PROPERTY:${ARG_IN},COMPILE_DEFINITIONS>")
    set(moc "${CMAKE_CURRENT_BINARY_DIR}/moc/${name}.moc")
    add_custom_command(OUTPUT "${moc}"
        COMMAND Qt6::moc "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" "${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp" -o "${moc}"
        DEPENDS ${name}.cpp COMMENT "Running moc on ${name}.cpp" COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${ARG_IN} PRIVATE ${name}.cpp "${moc}")
    add_test(NAME ${name} COMMAND ${ARG_IN} ${name})
    lathe_set_test(${name} ${ARG_UNPARSED_ARGUMENTS})
endfunction()

# lathe_add_installation(loom TESTS back_end_tests PLUGINS cpu_codegen cpu_device MODULES lathe_example_loom_rules ...): programs load plugins from
# their own installation alone, so that tests with other ones have another installation: tests/installations/loom in the build folder, with the
# programs, these of Lathe's plugins, these modules, and the test programs in its folder tests.
function(lathe_add_installation name)
    cmake_parse_arguments(ARG "" "" "TESTS;PLUGINS;MODULES" ${ARGN})
    set(prefix "${CMAKE_BINARY_DIR}/tests/installations/${name}")
    set(commands COMMAND "${CMAKE_COMMAND}" -E make_directory "${prefix}/bin" "${prefix}/lib/lathe/plugins")
    set(parts)
    foreach(program lathe-builder lathe-cli lathe-runner) # by another name of the same file: a link would lead to the installation that it is of
        list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E create_hardlink "$<TARGET_FILE:${program}>" "${prefix}/bin/${program}")
        list(APPEND parts ${program})
    endforeach()
    foreach(plugin ${ARG_PLUGINS})
        list(APPEND commands COMMAND "${CMAKE_COMMAND}" -E create_symlink "$<TARGET_FILE:lathe_plugin_${plugin}>" "${prefix}/lib/lathe/plugins/${plugin}.so")
        list(APPEND parts lathe_plugin_${plugin})
    endforeach()
    list(APPEND commands
        COMMAND "${CMAKE_COMMAND}" -E create_symlink "${CMAKE_BINARY_DIR}/lib/lathe/runtime" "${prefix}/lib/lathe/runtime"
        COMMAND "${CMAKE_COMMAND}" -E create_symlink "${CMAKE_BINARY_DIR}/share" "${prefix}/share")
    add_custom_command(OUTPUT "${prefix}/complete" ${commands} COMMAND "${CMAKE_COMMAND}" -E touch "${prefix}/complete" DEPENDS ${parts} VERBATIM)
    add_custom_target(lathe_installation_${name} DEPENDS "${prefix}/complete")
    foreach(module ${ARG_MODULES})
        set_target_properties(${module} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${prefix}/lib/lathe/plugins")
    endforeach()
    foreach(program ${ARG_TESTS})
        set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${prefix}/tests")
        add_dependencies(${program} lathe_installation_${name} lathe_deploy_runtime ${ARG_MODULES})
    endforeach()
endfunction()
