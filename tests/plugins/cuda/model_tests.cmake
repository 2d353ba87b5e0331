# What machine code tells and what the analytic model makes of it; included by the folder's CMakeLists.txt.
add_subdirectory(ladder)
lathe_add_test_program(cuda_model_tests DEPS cuda_ladder cuda_model support)
target_compile_definitions(cuda_model_tests PRIVATE LATHE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
lathe_add_test(tst_cuda_model IN cuda_model_tests LABEL integration TIMEOUT 300)
lathe_add_test(tst_cuda_sass IN cuda_model_tests LABEL unit)
lathe_add_test(tst_gpu_occupancy IN cuda_model_tests LABEL unit)
