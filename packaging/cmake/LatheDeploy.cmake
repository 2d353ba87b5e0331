# The archives that exported libraries are linked with: one folder per machine, lib/lathe/runtime/MACHINE-linux-gnu.

# They ship on devices and inside deploy libraries: nothing of the C++ library, no exceptions, no run-time types.
set(LATHE_RUNTIME_FLAGS -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden -fno-math-errno
    -ffunction-sections -fdata-sections)
# Always optimized, never instrumented. Nothing of the compiler's own library is linked with them, and GCC's atomic functions for Arm are
# there.
set(LATHE_DEPLOY_RUNTIME_FLAGS -O2 -g0 -U_FORTIFY_SOURCE -fno-stack-protector ${LATHE_RUNTIME_FLAGS})
set(LATHE_DEPLOY_RUNTIME_FLAGS_aarch64 -mno-outline-atomics)

# lathe_add_deploy_archive(runtime SOURCES a.cpp ... INCLUDES folder ...): liblathe_runtime.a for this machine, the target
# lathe_deploy_runtime, and with it, for other machines that exports are made for, where their compilers are.
# INCLUDES: folders of headers that are the same for every machine.
function(lathe_add_deploy_archive name)
    cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDES" ${ARGN})
    set(target lathe_deploy_${name})
    set(folder "lib/lathe/runtime/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
    add_library(${target} STATIC ${ARG_SOURCES})
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
    target_include_directories(${target} SYSTEM PRIVATE ${ARG_INCLUDES})
    target_compile_options(${target} PRIVATE ${LATHE_DEPLOY_RUNTIME_FLAGS} ${LATHE_DEPLOY_RUNTIME_FLAGS_${CMAKE_SYSTEM_PROCESSOR}})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME lathe_${name} ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${folder}")
    install(TARGETS ${target} ARCHIVE DESTINATION "${folder}")
    foreach(machine aarch64 x86_64)
        lathe_add_cross_archive(${name} ${machine} SOURCES ${ARG_SOURCES} INCLUDES ${ARG_INCLUDES})
    endforeach()
endfunction()

# For a machine that this compiler makes no code for, where its cross compiler is there: the target lathe_deploy_runtime_aarch64.
function(lathe_add_cross_archive name machine)
    cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDES" ${ARGN})
    if(machine STREQUAL CMAKE_SYSTEM_PROCESSOR)
        return()
    endif()
    find_program(LATHE_CXX_${machine} ${machine}-linux-gnu-g++)
    find_program(LATHE_AR_${machine} ${machine}-linux-gnu-ar)
    if(NOT LATHE_CXX_${machine} OR NOT LATHE_AR_${machine})
        add_feature_info("export for ${machine}" OFF "deploy libraries for ${machine} (needs ${machine}-linux-gnu-g++)")
        return()
    endif()
    add_feature_info("export for ${machine}" ON "deploy libraries for ${machine}")
    set(flags -std=c++20 -fPIC -Wall -Wextra ${LATHE_DEPLOY_RUNTIME_FLAGS} ${LATHE_DEPLOY_RUNTIME_FLAGS_${machine}}
        "-I${PROJECT_SOURCE_DIR}" "-I${PROJECT_BINARY_DIR}")
    foreach(include ${ARG_INCLUDES})
        list(APPEND flags -isystem "${include}")
    endforeach()
    if(CMAKE_COMPILE_WARNING_AS_ERROR)
        list(APPEND flags -Werror)
    endif()
    set(objects)
    foreach(source ${ARG_SOURCES})
        set(object "${CMAKE_CURRENT_BINARY_DIR}/${machine}/${source}.o")
        cmake_path(GET object PARENT_PATH folder)
        file(MAKE_DIRECTORY "${folder}")
        add_custom_command(OUTPUT "${object}"
            COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${LATHE_CXX_${machine}}" ${flags} -MD -MF "${object}.d"
                -c "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -o "${object}"
            DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM
            COMMENT "Building ${name}'s ${source} for ${machine}")
        list(APPEND objects "${object}")
    endforeach()
    set(archives "${CMAKE_BINARY_DIR}/lib/lathe/runtime/${machine}-linux-gnu")
    file(MAKE_DIRECTORY "${archives}")
    set(archive "${archives}/liblathe_${name}.a")
    add_custom_command(OUTPUT "${archive}"
        COMMAND "${CMAKE_COMMAND}" -E rm -f "${archive}"
        COMMAND "${LATHE_AR_${machine}}" qcs "${archive}" ${objects}
        DEPENDS ${objects} VERBATIM
        COMMENT "Linking ${name} for ${machine}")
    add_custom_target(lathe_deploy_${name}_${machine} ALL DEPENDS "${archive}")
    add_dependencies(lathe_deploy_${name} lathe_deploy_${name}_${machine})
    install(FILES "${archive}" DESTINATION "lib/lathe/runtime/${machine}-linux-gnu")
endfunction()
