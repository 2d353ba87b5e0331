/* Runs an exported network once, on any machine that has a C library.
 *
 *     cc -include NAME.h -DNETWORK=NAME run_network.c ./NAME.so -Wl,-rpath,'$ORIGIN' -o run_network
 *     ./run_network THREADS OUTPUT [INPUT.bin]...
 *
 * Inputs are raw files, one each; output I is written to OUTPUT.I.
 */
#include <stdio.h>
#include <stdlib.h>

#define JOIN(network, function) lathe_##network##_##function
#define NAMED(network, function) JOIN(network, function)
#define CALL(function) NAMED(NETWORK, function)

static int fail(const char* what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

int main(int argc, char** argv)
{
    if (argc < 3 || (uint32_t)argc != 3 + CALL(input_count)())
        return fail("usage: THREADS OUTPUT [INPUT.bin]..., one for each input");
    lathe_options options = {0};
    options.struct_size = sizeof options;
    options.threads = (uint32_t)atoi(argv[1]);
    char error[512];
    lathe_instance* network = CALL(create)(&options, error, sizeof error);
    if (network == NULL)
        return fail(error);
    if (CALL(threads)(network) != options.threads)
        return fail("another number of threads than asked for");
    lathe_tensor_info info;
    for (uint32_t i = 0; i < CALL(input_count)(); ++i) {
        CALL(input_info)(i, &info);
        FILE* file = fopen(argv[3 + i], "rb");
        if (file == NULL || fread(CALL(input_buffer)(network, i), 1, info.bytes, file) != info.bytes || fgetc(file) != EOF)
            return fail("an input file does not hold its input's bytes");
        fclose(file);
    }
    if (CALL(run)(network) != LATHE_OK)
        return fail(CALL(last_error)(network));
    for (uint32_t i = 0; i < CALL(output_count)(); ++i) {
        char name[4096];
        snprintf(name, sizeof name, "%s.%u", argv[2], (unsigned)i);
        CALL(output_info)(i, &info);
        FILE* file = fopen(name, "wb");
        if (file == NULL || fwrite(CALL(output_buffer)(network, i), 1, info.bytes, file) != info.bytes || fclose(file) != 0)
            return fail("an output cannot be written");
    }
    CALL(destroy)(network);
    return 0;
}
