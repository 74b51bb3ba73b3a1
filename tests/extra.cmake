# Published times of whole models beside predicted ones, of the models that are here or can be made.
execute_process(COMMAND /usr/bin/python3 -c "import onnx" RESULT_VARIABLE NO_ONNX
                OUTPUT_QUIET ERROR_QUIET)
if(NOT NO_ONNX AND NOT CLEAVE_SANITIZE)
  add_test(NAME corpus_times COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/corpus/check_times.py
           $<TARGET_FILE:cleave_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data/published
           --page ${PROJECT_SOURCE_DIR}/docs/published.md)
  # The forms that practice runs models in, beside those that are chosen.
  add_test(NAME corpus_forms COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/corpus/check_forms.py
           $<TARGET_FILE:cleave_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data/published ${CMAKE_CURRENT_SOURCE_DIR}/data/models
           --page ${PROJECT_SOURCE_DIR}/docs/forms.md)
  # What a prefill of Llama-3 70B needs, by hand and of plans.
  add_test(NAME corpus_memory COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/corpus/check_memory.py
           $<TARGET_FILE:cleave_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data/published
           --page ${PROJECT_SOURCE_DIR}/docs/cost-model.md)
  # A decoder as it ran on two accelerators, beside its plans.
  add_test(NAME corpus_measured_models COMMAND /usr/bin/python3
           ${CMAKE_CURRENT_SOURCE_DIR}/corpus/check_measured_models.py $<TARGET_FILE:cleave_cli>
           --page ${PROJECT_SOURCE_DIR}/docs/calibration.md)
endif()
# Plans of real models are proven to be near the best.
if(NOT CLEAVE_SANITIZE)
  add_test(NAME corpus_gaps COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/corpus/check_gaps.py
           $<TARGET_FILE:cleave_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data/published)
endif()

# Programs that the test tools in corpus/ run; built when asked for by name.
add_executable(dump_shapes EXCLUDE_FROM_ALL corpus/dump_shapes.c)
target_link_libraries(dump_shapes PRIVATE cleave_flags clv_proto clv_graph clv_base)
add_executable(dump_kernels EXCLUDE_FROM_ALL kernels/dump_kernels.c)
target_link_libraries(dump_kernels PRIVATE cleave_flags clv_proto clv_kernels clv_graph clv_base)
if(CLEAVE_RUN_FOUND)
  add_executable(compare_optimized EXCLUDE_FROM_ALL kernels/compare_optimized.c)
  target_link_libraries(compare_optimized PRIVATE cleave_flags clv_run clv_kernels clv_proto clv_graph clv_base)
endif()
add_executable(copy_model EXCLUDE_FROM_ALL corpus/copy_model.c)
target_link_libraries(copy_model PRIVATE cleave_flags test_support clv_proto clv_graph clv_base)
add_executable(dump_weights EXCLUDE_FROM_ALL corpus/dump_weights.c)
target_link_libraries(dump_weights PRIVATE cleave_flags clv_proto clv_graph clv_base)
add_executable(dump_rules EXCLUDE_FROM_ALL sharding/dump_rules.c)
target_link_libraries(dump_rules PRIVATE cleave_flags clv_proto clv_sharding clv_graph clv_base)
add_executable(lower_layouts EXCLUDE_FROM_ALL lower/lower_layouts.c)
target_link_libraries(lower_layouts PRIVATE cleave_flags clv_lower clv_proto clv_cost clv_graph
                      clv_base)
add_executable(prove_plan EXCLUDE_FROM_ALL verify/prove_plan.c)
target_link_libraries(prove_plan PRIVATE cleave_flags clv_verify clv_proto clv_plan clv_cost
                      clv_graph clv_base)
add_executable(prove_layouts EXCLUDE_FROM_ALL verify/prove_layouts.c)
target_link_libraries(prove_layouts PRIVATE cleave_flags clv_verify clv_proto clv_plan clv_cost
                      clv_graph clv_base)

string(COMPARE NOTEQUAL "${CLEAVE_SANITIZE}" "" SANITIZED) # the list has a comma in it

# The files of configs/ against their schemas, where Debian's python3-jsonschema is installed.
execute_process(COMMAND /usr/bin/python3 -c "import jsonschema" RESULT_VARIABLE NO_JSONSCHEMA
                OUTPUT_QUIET ERROR_QUIET)
if(NOT NO_JSONSCHEMA)
  add_test(NAME cluster_schemas COMMAND /usr/bin/python3
           ${CMAKE_CURRENT_SOURCE_DIR}/cluster/check_schemas.py ${PROJECT_SOURCE_DIR})
  # The same for what the command prints.
  add_test(NAME cli_json_models COMMAND /usr/bin/python3 -W ignore
           ${CMAKE_CURRENT_SOURCE_DIR}/cli/check_json.py $<TARGET_FILE:cleave_cli>
           ${PROJECT_SOURCE_DIR} $<$<BOOL:${SANITIZED}>:gnmt.static.onnx> COMMAND_EXPAND_LISTS)
endif()
# Plans edited by hand.
add_test(NAME plan_edits COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/plan/edits.py
         $<TARGET_FILE:cleave_cli> ${PROJECT_SOURCE_DIR})
# Real models in all forms of lowering.
execute_process(COMMAND /usr/bin/python3 -c "import onnx, jsonschema" RESULT_VARIABLE NO_LOWER
                OUTPUT_QUIET ERROR_QUIET)
if(NOT NO_LOWER)
  add_test(NAME verify_annotated_folder COMMAND /usr/bin/python3
           ${CMAKE_CURRENT_SOURCE_DIR}/verify/annotated_folder.py $<TARGET_FILE:cleave_cli> ${PROJECT_SOURCE_DIR})
  add_test(NAME lower_folders COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/lower/check_folders.py
           $<TARGET_FILE:cleave_cli> ${PROJECT_SOURCE_DIR} $<$<BOOL:${SANITIZED}>:resnet.static.onnx> COMMAND_EXPAND_LISTS)
  # Kernels of ONNX Runtime's description against the graphs that it optimises.
  if(CLEAVE_RUN_FOUND)
    set_target_properties(compare_optimized PROPERTIES EXCLUDE_FROM_ALL OFF)
    add_test(NAME kernels_optimized COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/kernels/check_optimized.py
             $<TARGET_FILE:compare_optimized> ${PROJECT_SOURCE_DIR})
  endif()
endif()
add_executable(count EXCLUDE_FROM_ALL corpus/count.c)

target_link_libraries(count PRIVATE cleave_flags clv_proto clv_cost clv_graph clv_base)

# The structure of the source, its words and references, and which test covers what.
add_test(NAME layers COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/layers/layers.py
         ${PROJECT_SOURCE_DIR})
add_test(NAME words COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/layers/words.py
         ${PROJECT_SOURCE_DIR})
add_test(NAME references COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/layers/references.py
         ${PROJECT_SOURCE_DIR})
add_test(NAME covers COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/layers/covers.py
         ${PROJECT_SOURCE_DIR})

# Other libraries of C and other machines, as far as a compiler shows it without them.
if(NOT SANITIZED)
  add_test(NAME targets_musl COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/targets/musl.py
           ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  add_test(NAME targets_refused COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/targets/refused.py
           ${PROJECT_SOURCE_DIR})
  set_tests_properties(targets_musl targets_refused PROPERTIES SKIP_RETURN_CODE 77)
endif()

# The binary interface of the library, held against the file that says what it is.
add_test(NAME api_abi COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/api/abi.py ${CMAKE_C_COMPILER}
         ${PROJECT_SOURCE_DIR}/src/include $<TARGET_FILE:cleave> ${CMAKE_CURRENT_SOURCE_DIR}/api/abi.txt)
set_tests_properties(api_abi PROPERTIES SKIP_RETURN_CODE 77)

# ONNX's own test models, held against ONNX's own checker and shape inference, where Debian's
# libonnx-testdata and python3-onnx are installed. With sanitizers only every fifth model.
set(ONNX_TESTDATA /usr/share/libonnx-testdata)
if(NOT NO_ONNX AND EXISTS ${ONNX_TESTDATA})
  set(CORPUS ${CMAKE_CURRENT_SOURCE_DIR}/corpus)
  set_target_properties(dump_shapes count dump_rules copy_model dump_weights PROPERTIES EXCLUDE_FROM_ALL OFF)
  add_test(NAME corpus_plan COMMAND /usr/bin/python3 ${CORPUS}/corpus.py $<TARGET_FILE:cleave_cli>
           ${ONNX_TESTDATA} ${CMAKE_CURRENT_SOURCE_DIR}/data/models
           $<$<BOOL:${SANITIZED}>:--limit=100> COMMAND_EXPAND_LISTS)
  if(CLEAVE_RUN_FOUND AND NOT SANITIZED) # what is planned is legal, can be lowered, and is right
    add_test(NAME corpus_legal COMMAND /usr/bin/python3 ${CORPUS}/legal.py $<TARGET_FILE:cleave_cli>
             ${ONNX_TESTDATA} ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable --devices 2,3 --every 60)
    add_test(NAME corpus_legal_static COMMAND /usr/bin/python3 ${CORPUS}/legal.py $<TARGET_FILE:cleave_cli>
             ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable ${CMAKE_CURRENT_SOURCE_DIR}/data/models --devices 4)
  endif()
  add_test(NAME corpus_shapes COMMAND /usr/bin/python3 ${CORPUS}/compare_shapes.py
           $<TARGET_FILE:dump_shapes> --strip
           $<IF:$<BOOL:${SANITIZED}>,${CMAKE_CURRENT_SOURCE_DIR}/data/models,${ONNX_TESTDATA}>)
  add_test(NAME corpus_published COMMAND /usr/bin/python3 ${CORPUS}/check_published.py
           $<TARGET_FILE:count> ${CMAKE_CURRENT_SOURCE_DIR}/data/models)
  add_test(NAME corpus_ort_shapes COMMAND /usr/bin/python3 ${CORPUS}/ort_cases.py check
           $<TARGET_FILE:dump_shapes> $<$<BOOL:${SANITIZED}>:--every=4> COMMAND_EXPAND_LISTS)
  # Models written anew with other names, and the elements of their weights.
  add_test(NAME corpus_copies COMMAND /usr/bin/python3 ${CORPUS}/check_copies.py
           $<TARGET_FILE:copy_model> ${CMAKE_CURRENT_SOURCE_DIR}/data/models ${ONNX_TESTDATA}
           $<$<BOOL:${SANITIZED}>:--limit=110> COMMAND_EXPAND_LISTS)
  add_test(NAME corpus_weights COMMAND /usr/bin/python3 ${CORPUS}/check_weights.py
           $<TARGET_FILE:dump_weights> ${CMAKE_CURRENT_SOURCE_DIR}/data/models ${ONNX_TESTDATA}
           $<$<BOOL:${SANITIZED}>:--limit=110> COMMAND_EXPAND_LISTS)
  # Every layout of every operator, lowered to a program and proven.
  set_target_properties(prove_layouts PROPERTIES EXCLUDE_FROM_ALL OFF)
  foreach(mesh 3 2x2)
    add_test(NAME verify_layouts_${mesh} COMMAND find -L ${ONNX_TESTDATA} -name model.onnx
             -exec $<TARGET_FILE:prove_layouts> --mesh ${mesh} {} +)
  endforeach()
  # Sharding rules, shard by shard in reference arithmetic, itself held against ONNX's data.
  set(SHARDING ${CMAKE_CURRENT_SOURCE_DIR}/sharding)
  add_test(NAME sharding_reference COMMAND /usr/bin/python3 ${SHARDING}/check_reference.py
           ${ONNX_TESTDATA})
  if(NOT SANITIZED) # most of the time is Python's
    add_test(NAME sharding_rules COMMAND /usr/bin/python3 ${SHARDING}/check_rules.py
             $<TARGET_FILE:dump_rules> ${PROJECT_SOURCE_DIR})
    add_test(NAME sharding_rules_apart COMMAND /usr/bin/python3 ${SHARDING}/check_rules.py
             $<TARGET_FILE:dump_rules> ${PROJECT_SOURCE_DIR} --apart 3 --every 4)
    add_test(NAME sharding_rules_three_axes COMMAND /usr/bin/python3 ${SHARDING}/check_rules.py
             $<TARGET_FILE:dump_rules> ${PROJECT_SOURCE_DIR} --mesh 2x2x2 --every 4)
  endif()
  # Lowered models on ONNX Runtime: its own operator tests under every layout, real models, and the
  # published examples. With sanitizers a part of them.
  set(LOWER ${CMAKE_CURRENT_SOURCE_DIR}/lower)
  add_test(NAME lower_opsets COMMAND /usr/bin/python3 ${LOWER}/check_opsets.py ${PROJECT_SOURCE_DIR})
  if(TARGET cleave_run)
    set_target_properties(lower_layouts PROPERTIES EXCLUDE_FROM_ALL OFF)
    add_test(NAME lower_conform COMMAND /usr/bin/python3 ${LOWER}/conform.py
             $<TARGET_FILE:lower_layouts> $<TARGET_FILE:cleave_run> ${ONNX_TESTDATA}
             --mesh 2 --mesh 3 $<$<NOT:$<BOOL:${SANITIZED}>>:--mesh=2:1,2>
             $<$<BOOL:${SANITIZED}>:--every=50> COMMAND_EXPAND_LISTS)
    foreach(dialect ort tensorrt) # what each device has of a few of them, and collectives
      add_test(NAME lower_conform_${dialect} COMMAND /usr/bin/python3 ${LOWER}/conform.py
               $<TARGET_FILE:lower_layouts> $<TARGET_FILE:cleave_run> ${ONNX_TESTDATA} --mesh 3
               --mesh 2x2 --every=$<IF:$<BOOL:${SANITIZED}>,120,20> --collectives ${dialect})
    endforeach()
    add_test(NAME lower_exchanges COMMAND /usr/bin/python3 ${LOWER}/exchanges.py
             $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run> $<TARGET_FILE:lower_layouts>
             --every $<IF:$<BOOL:${SANITIZED}>,400,5>)
    add_test(NAME lower_manifest_edits COMMAND /usr/bin/python3 ${LOWER}/manifest_edits.py
             $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run> $<TARGET_FILE:lower_layouts>
             ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable/mixtral_prefill.static.onnx
             $<IF:$<BOOL:${SANITIZED}>,8,1>)
    add_test(NAME verify_kernel_errors COMMAND /usr/bin/python3
             ${CMAKE_CURRENT_SOURCE_DIR}/verify/kernel_errors.py $<TARGET_FILE:cleave_run>
             ${PROJECT_SOURCE_DIR}/src/verify/error_growth.h)
    add_test(NAME verify_sabotage COMMAND /usr/bin/python3
             ${CMAKE_CURRENT_SOURCE_DIR}/verify/sabotage.py $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run>
             $<TARGET_FILE:lower_layouts> ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable
             --seeds 0:$<IF:$<BOOL:${SANITIZED}>,2,14>)
    # Plans with copies; with CLEAVE_EFFORT=20 there are 200.
    add_test(NAME verify_copies COMMAND /usr/bin/python3 -W ignore
             ${CMAKE_CURRENT_SOURCE_DIR}/verify/copies.py $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run>
             $<TARGET_FILE:lower_layouts> ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable
             ${CMAKE_CURRENT_SOURCE_DIR}/data/models --plans $<IF:$<BOOL:${SANITIZED}>,3,10>)
    if(NOT SANITIZED) # three faults each
      add_test(NAME verify_faults COMMAND /usr/bin/python3 -W ignore
               ${CMAKE_CURRENT_SOURCE_DIR}/verify/faults.py $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run>
               $<TARGET_FILE:lower_layouts> ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable --each 20)
      # An output that the manifest does not list was once a file that could not be opened.
      add_test(NAME verify_output_left_out COMMAND /usr/bin/python3 -W ignore
               ${CMAKE_CURRENT_SOURCE_DIR}/verify/faults.py $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run>
               $<TARGET_FILE:lower_layouts> ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable --each 1 --first 1008)
    endif()
    # Small graphs: of fixed seeds, and those that were wrong once.
    add_test(NAME lower_random COMMAND /usr/bin/python3 -W ignore ${LOWER}/random_graphs.py
             $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run> $<TARGET_FILE:lower_layouts>
             --brief --seeds 0:$<IF:$<BOOL:${SANITIZED}>,15,200>)
    # Types that Slice and Concat do not take.
    add_test(NAME lower_narrow_types COMMAND /usr/bin/python3 ${LOWER}/narrow_types.py
             $<TARGET_FILE:lower_layouts> $<TARGET_FILE:cleave_run> --mesh 2x2 --mesh 3
             --every $<IF:$<BOOL:${SANITIZED}>,100,20>)
    if(NOT SANITIZED)
      add_test(NAME lower_small COMMAND /usr/bin/python3 -W ignore ${LOWER}/small_graphs.py
               $<TARGET_FILE:lower_layouts> $<TARGET_FILE:cleave_run>)
    endif()
    add_test(NAME lower_examples COMMAND /usr/bin/python3 ${LOWER}/examples.py
             $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run>)
    add_test(NAME lower_experts COMMAND /usr/bin/python3 ${LOWER}/experts.py
             $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run>)
    add_test(NAME lower_models COMMAND /usr/bin/python3 ${LOWER}/models.py
             $<TARGET_FILE:cleave_cli> $<TARGET_FILE:cleave_run> $<TARGET_FILE:lower_layouts>
             ${CMAKE_CURRENT_SOURCE_DIR}/data/runnable
             ${CMAKE_CURRENT_SOURCE_DIR}/data/models
             "$<IF:$<BOOL:${SANITIZED}>,--only=dlrm;--every=4,--every=2>" COMMAND_EXPAND_LISTS)
  endif()
  set_tests_properties(corpus_plan corpus_shapes PROPERTIES TIMEOUT 1500)
else()
  message(STATUS "no python3-onnx or ${ONNX_TESTDATA}: the tests over ONNX's own models are left out")
endif()

# The longest begin first, so that no core waits for the last one.
foreach(test verify_sabotage corpus_legal lower_models lower_conform lower_manifest_edits api_memory lower_random
        sharding_rules sharding_rules_apart sharding_rules_three_axes
        solver_partition_solve solver_partition_time_calibration cli_plan cli_joint cli_lower cli_solve cli_place
        cli_no_fit cli_calibrate cli_json_models api_solve corpus_plan lower_exchanges lower_conform_ort
        run_run run_batch run_manifest run_devices)
  if(TEST ${test})
    set_tests_properties(${test} PROPERTIES COST 10)
  endif()
endforeach()

# Faults in files: links that are swapped, kills, full disks, two writers, files that shrink. A sanitizer has to be
# loaded first, so they are left out there; with numbers the same is done a thousand times (campaign.py).
add_library(fault_calls MODULE ${CMAKE_CURRENT_SOURCE_DIR}/faults/fault_calls.c)
target_compile_options(fault_calls PRIVATE -w -fvisibility=default)
set_target_properties(fault_calls PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
if(NOT SANITIZED)
  foreach(part swap kill full writers shrink)
    add_test(NAME faults_${part} COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/faults/campaign.py
             $<TARGET_FILE:cleave_cli> $<TARGET_FILE:fault_calls> ${PROJECT_SOURCE_DIR}
             --scratch ${CMAKE_CURRENT_BINARY_DIR} --only ${part})
  endforeach()
endif()
