# The command as -DCLEAVE_GLPK=OFF builds it, from the objects of this build: the files that know of
# GLPK are compiled without it and take the place of those in the library.
set(ilp ${PROJECT_SOURCE_DIR}/solver/common/ilp)
set(no_glpk ${ilp}/ilp_solve.c ${ilp}/ilp_glpk.c ${ilp}/glpk_fence.c)

add_executable(cleave_without_glpk ${cli} ${no_glpk})
target_link_libraries(cleave_without_glpk PRIVATE cleave_flags clv_api clv_base)
target_link_options(cleave_without_glpk PRIVATE -Wl,--as-needed)
add_test(NAME without_glpk_links_none COMMAND sh -c
         "needed=$(readelf -d $<TARGET_FILE:cleave_without_glpk>) && ! echo \"$needed\" | grep -i glpk")

cleave_test(solver_partition_refine_ilp_without_glpk solver/partition/test_refine_ilp.c cleave_without_glpk
            clv_solver clv_base)
target_sources(solver_partition_refine_ilp_without_glpk PRIVATE ${no_glpk})
cleave_test(cli_plan_without_glpk cli/test_plan.c cleave_without_glpk clv_proto clv_base)
target_sources(cli_plan_without_glpk PRIVATE support/run.c) # runs that command, too
