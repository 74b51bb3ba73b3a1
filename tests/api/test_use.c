/* test_use.c - header, example and installed package, as another program's build meets them. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_builder.h"
#include "support/run.h"

static char *folder;

static void set_up(void)
{
    test_onnx *m = onnx_new(8, 17);
    test_graph *g = onnx_main(m);
    size_t n = 0;

    folder = folder_new();
    onnx_input(g, "x", 1, "2,64");
    onnx_node(g, "Relu", "a", "x", "y");
    onnx_node(g, "Add", "b", "x,y", "z");
    onnx_node(g, "Add", "c", "z,y", "o");
    onnx_output(g, "o", 1, "2,64");
    uint8_t *bytes = onnx_pack(m, &n);
    file_write(folder, "m.onnx", bytes, n);
    free(bytes);
    onnx_free(m);
}

static void tear_down(void) { folder_free(folder); }

TestSuite(use, .init = set_up, .fini = tear_down);

static void works(const char *line)
{
    run_result r = run_in(folder, "%s", line);
    cr_assert_eq(r.code, 0, "%s\n%s%s", line, r.out, r.err);
    run_free(&r);
}

Test(use, the_header_stands_alone_in_c99_and_in_cpp)
{
    works("echo '#include <cleave.h>' > h.c && cc -std=c99 -pedantic -Wall -Wextra -Werror "
          "-I" TEST_SOURCE_DIR "/src/include -c h.c -o h.o");
    works("command -v c++ >/dev/null || exit 0; cp h.c h.cc 2>/dev/null || "
          "echo '#include <cleave.h>' > h.cc; c++ -Wall -Wextra -Werror -I" TEST_SOURCE_DIR
          "/src/include -c h.cc -o hh.o");
}

/* The options too, as a program of each language starts with them. */
Test(use, the_options_of_the_header_suit_c_and_cpp)
{
    works("echo '#include <cleave.h>\nint devices(void);\nint devices(void) { "
          "cleave_plan_options o; cleave_place_options p; cleave_plan_options_init(&o); "
          "cleave_place_options_init(&p); return o.devices + (int)p.size; }\n' > o.c; "
          "cc -std=c99 -pedantic-errors -Wall -Wextra -Werror -I" TEST_SOURCE_DIR
          "/src/include -c o.c");
    works("command -v c++ >/dev/null || exit 0; cp o.c o.cc; for std in c++11 c++17; do "
          "c++ -std=$std -pedantic-errors -Wall -Wextra -Werror -I" TEST_SOURCE_DIR
          "/src/include -c o.cc || exit 1; done");
}

Test(use, the_installed_package_builds_the_example_and_it_runs)
{
    works("DESTDIR= cmake --install " TEST_BINARY_DIR " --prefix $PWD/prefix >install.log");
    works("export PKG_CONFIG_PATH=$(dirname $(find $PWD/prefix -name cleave.pc)); "
          "p=$PWD/prefix; l=$(dirname $(find $p -name 'libcleave.*' | head -n 1)); "
          "grep -q 'CLEAVE_SANITIZE:[A-Z]*=.' " TEST_BINARY_DIR "/CMakeCache.txt && exit 0; "
          "cc " TEST_SOURCE_DIR "/docs/example.c "
          "-I$p/include -L$l -lcleave -o example && "
          "LD_LIBRARY_PATH=$l ./example m.onnx o.onnx | grep -q ' on device ' && test -s o.onnx && "
          "! LD_LIBRARY_PATH=$l ./example 2>usage && grep -q '^Usage: example MODEL' usage");
    works("for f in share/man/man1/cleave-plan.1 share/cleave/configs/clusters/dgx-h100.json "
          "share/bash-completion/completions/cleave include/cleave.h bin/cleave; do "
          "test -s prefix/$f || { echo $f; exit 1; }; done");
}

/* As docs/example.c says; a shell takes the quotes off again only where it is asked to. */
Test(use, pkg_config_knows_where_the_package_was_put)
{
    works("command -v pkg-config >/dev/null || exit 0; "
          "for p in \"$PWD/plain\" \"$PWD/pre fix\"; do "
          "DESTDIR= cmake --install " TEST_BINARY_DIR " --prefix \"$p\" >install.log; "
          "PKG_CONFIG_PATH=$(dirname \"$(find \"$p\" -name cleave.pc)\"); export PKG_CONFIG_PATH; "
          "grep -q 'CLEAVE_SANITIZE:[A-Z]*=.' " TEST_BINARY_DIR "/CMakeCache.txt && exit 0; "
          "rm -f example; cp " TEST_SOURCE_DIR "/docs/example.c .; "
          "case $p in *' '*) eval cc example.c $(pkg-config --cflags --libs cleave) -o example ;; "
          "*) cc example.c $(pkg-config --cflags --libs cleave) -o example ;; esac && "
          "test -x example || exit 1; done");
}

/* Whatever the prefix was, and after it was moved: the command finds its library, and the library
 * its clusters. */
Test(use, an_installed_tree_works_wherever_it_is)
{
    works("cmake --install " TEST_BINARY_DIR " --prefix \"$PWD/pre fix\" >install.log; "
          "env -u LD_LIBRARY_PATH 'pre fix/bin/cleave' --version");
    works("mv 'pre fix' moved && c=moved/share/cleave/configs/clusters && "
          "cp $c/dgx-h100.json $c/only-here.json && "
          "moved/bin/cleave plan --no-output -q --cluster only-here m.onnx && "
          "PATH=$PWD/moved/bin:$PATH cleave plan --no-output -q --cluster only-here m.onnx");
    works("moved/bin/cleave plan --cluster nowhere m.onnx 2>&1 | "
          "grep -q \"looked in $PWD/moved/share/cleave/configs/clusters and \"");
}

Test(use, cmake_finds_the_installed_package)
{
    works("cmake --install " TEST_BINARY_DIR " --prefix $PWD/prefix >install.log");
    works("printf 'cmake_minimum_required(VERSION 3.25)\\nproject(p C)\\n"
          "find_package(cleave 0.3 REQUIRED)\\nadd_executable(p " TEST_SOURCE_DIR
          "/docs/example.c)\\ntarget_link_libraries(p cleave::cleave)\\n' > CMakeLists.txt; "
          "cmake -S . -B b -DCMAKE_PREFIX_PATH=$PWD/prefix >cmake.log");
    works("grep -q 'CLEAVE_SANITIZE:[A-Z]*=.' " TEST_BINARY_DIR "/CMakeCache.txt && exit 0; "
          "cmake --build b >build.log && ./b/p m.onnx o.onnx");
}
