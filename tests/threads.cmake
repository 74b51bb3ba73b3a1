# The command and the library under the thread sanitizer: many workers, both compilers, every search. A data race makes
# it exit 66.
set(DATA ${CMAKE_CURRENT_SOURCE_DIR}/data/models)
set(EXAMPLE ${PROJECT_SOURCE_DIR}/docs/examples/compiler-example.sh)

function(cleave_thread_test name)
  add_test(NAME threads_${name} COMMAND cleave_cli plan --no-output --jobs 8 --devices 4 ${ARGN})
endfunction()

cleave_thread_test(latency ${DATA}/vit_l_16.b16.onnx)
cleave_thread_test(throughput ${DATA}/gnmt.static.onnx --objective throughput)
cleave_thread_test(tight ${DATA}/resnet.static.onnx --memory 1200KiB)
cleave_thread_test(documented ${DATA}/resnet.static.onnx --search documented)
cleave_thread_test(external ${DATA}/resnet.static.onnx --compiler "sh ${EXAMPLE}" --max-candidates 12)
cleave_thread_test(external_measured ${DATA}/vit_l_16.b16.onnx --objective throughput --compiler "echo '{\"version\": 1, \
\"outcome\": \"fits\", \"latency_ms\": 2.5, \"busy_ms\": [1, 2, 3, 2]}'")
cleave_thread_test(external_dropped ${DATA}/resnet.static.onnx --compiler "sleep 0.1$CLEAVE_WORKER && sh ${EXAMPLE}" --first-fit)

# The solvers of problems without a model.
foreach(problem chain300 many_choices)
  add_test(NAME threads_solve_${problem} COMMAND cleave_cli solve --jobs 8 --deadline 10
           ${CMAKE_CURRENT_SOURCE_DIR}/data/strategy/${problem}.json)
endforeach()
foreach(objective latency throughput devices)
  add_test(NAME threads_place_${objective} COMMAND cleave_cli place --free --objective ${objective} --deadline 10
           ${CMAKE_CURRENT_SOURCE_DIR}/data/placement/throughput/LayerGraphs/bert24_inference.json)
endforeach()

# The library, called from many threads.
add_executable(api_threads api/threads.c)
target_link_libraries(api_threads PRIVATE cleave_flags cleave Threads::Threads)
add_test(NAME threads_api COMMAND sh -c "rm -rf threads_api && mkdir threads_api && exec \"$@\"" sh
         $<TARGET_FILE:api_threads> ${DATA}/resnet.static.onnx
         ${CMAKE_CURRENT_SOURCE_DIR}/data/placement/throughput/LayerGraphs/bert24_inference.json
         ${CMAKE_CURRENT_SOURCE_DIR}/data/strategy/example.json threads_api)

# Sharding, resharding and collecting: two threads write weights.
add_test(NAME threads_shard COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/bench/weights.py
         $<TARGET_FILE:cleave_cli> --scratch ${CMAKE_CURRENT_BINARY_DIR}/threads_shard --bytes 20000000 --runs 1)
