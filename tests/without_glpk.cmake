# The command as -DCLEAVE_GLPK=OFF builds it, from the objects of this build: the files that know of
# GLPK are compiled without it and take the place of those in the library.
set(ilp ${PROJECT_SOURCE_DIR}/solver/common/ilp)
set(no_glpk ${ilp}/ilp_solve.c ${ilp}/ilp_glpk.c ${ilp}/glpk_fence.c)

add_executable(cleave_without_glpk ${cli} ${no_glpk})
target_link_libraries(cleave_without_glpk PRIVATE cleave_flags clv_api clv_base)
target_link_options(cleave_without_glpk PRIVATE -Wl,--as-needed)
add_test(NAME without_glpk_links_none COMMAND sh -c
         "needed=$(readelf -d $<TARGET_FILE:cleave_without_glpk>) && ! echo \"$needed\" | grep -i glpk")

function(cleave_test_without_glpk name command)
  add_executable(${name}_without_glpk ${ARGN})
  target_include_directories(${name}_without_glpk SYSTEM PRIVATE ${CRITERION_INCLUDE})
  target_compile_options(${name}_without_glpk PRIVATE -Wno-missing-prototypes -O0)
  target_compile_definitions(${name}_without_glpk PRIVATE TEST_CLEAVE="$<TARGET_FILE:${command}>"
    TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TEST_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${name}_without_glpk PRIVATE cleave_flags test_support clv_solver clv_proto clv_base
                        test_support clv_solver clv_proto clv_base ${CRITERION_LIBRARY})
  target_link_options(${name}_without_glpk PRIVATE -Wl,--as-needed)
  add_test(NAME ${name}_without_glpk COMMAND ${name}_without_glpk)
  set_tests_properties(${name}_without_glpk PROPERTIES TIMEOUT 900)
endfunction()
cleave_test_without_glpk(solver_partition_refine_ilp cleave_without_glpk solver/partition/test_refine_ilp.c ${no_glpk})
cleave_test_without_glpk(cli_plan cleave_without_glpk cli/test_plan.c support/run.c)
