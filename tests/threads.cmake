# The command under the thread sanitizer: many workers, both compilers, every search. A data race makes
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

# Sharding, resharding and collecting: two threads write weights.
add_test(NAME threads_shard COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/bench/weights.py
         $<TARGET_FILE:cleave_cli> --scratch ${CMAKE_CURRENT_BINARY_DIR}/threads_shard --bytes 20000000 --runs 1)
