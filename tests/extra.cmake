# Programs that the test tools in corpus/ run; built when asked for by name.
add_executable(dump_shapes EXCLUDE_FROM_ALL corpus/dump_shapes.c)
target_link_libraries(dump_shapes PRIVATE cleave_flags clv_proto clv_graph clv_base)

# The files of configs/ against their schemas, where Debian's python3-jsonschema is installed.
execute_process(COMMAND /usr/bin/python3 -c "import jsonschema" RESULT_VARIABLE NO_JSONSCHEMA
                OUTPUT_QUIET ERROR_QUIET)
if(NOT NO_JSONSCHEMA)
  add_test(NAME cluster_schemas COMMAND /usr/bin/python3
           ${CMAKE_CURRENT_SOURCE_DIR}/cluster/check_schemas.py ${PROJECT_SOURCE_DIR})
endif()
add_executable(count EXCLUDE_FROM_ALL corpus/count.c)
target_link_libraries(count PRIVATE cleave_flags clv_proto clv_cost clv_graph clv_base)
