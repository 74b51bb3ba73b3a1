# make demo   build, then plan a real model for two devices
# make test   build and run all tests, all again with sanitizers, and fuzz targets
# make fuzz   run each fuzz target for FUZZ_SECONDS (600), as a nightly job does; what it finds is kept
# make bench  measure planning time
# make bench-place   measure placements, proven or not, on published workloads
# make bench-solve   measure answers to strategy problems
# make bench-pool   a slow compiler at 1, 2, 4 and 16 jobs
# make bench-weights   shard, reshard and collect 2 GB of weights, beside cp
# make bench-joint   stages and shards together against either alone
# make bench-every-form   the plan that is found against the best of every form, asked for one by one
# make bench-alternatives   how much longer planning takes with alternatives and copies than without
# make bench-windows BEFORE=CLEAVE   what windows of plans bring, beside a build without them
# make bench-practice   the forms that are found beside those that practice runs (docs/forms.md)
# make bench-measured MEASURED=FOLDER  predictions against measured times of accelerators
# make bench-predict  predicted times and memory against measured ones, on this machine's processor
# make deps   install what is missing (Debian 12, as root)

PACKAGES = cmake gcc g++ clang libclang-rt-14-dev make pkg-config protobuf-compiler protobuf-c-compiler libprotobuf-c-dev \
	libglpk-dev libuv1-dev libcjson-dev libjemalloc-dev libcriterion-dev libonnx-testdata \
	libxxhash-dev python3-onnx python3-jsonschema musl-tools ca-certificates
DEMO_MODEL = tests/data/models/vit_l_16.b16.onnx
JOBS ?= $(shell nproc)
# One test more than there are cores: some wait for a deadline or a signal.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)

.PHONY: all demo test fuzz bench bench-place bench-solve bench-joint bench-every-form bench-alternatives bench-windows bench-practice bench-pool bench-measured bench-predict bench-weights deps install clean

all: deps
	cmake --preset release
	cmake --build --preset release -j$(JOBS)

demo: all
	build/release/cleave plan --devices 2 --optimal_perf \
	    -o build/vit_l_16.auto_sharded.onnx $(DEMO_MODEL)

test: deps
	@date +%s > build/test.began
	cmake --preset dev
	cmake --build --preset dev -j$(JOBS)
	ctest --preset dev -j$(TEST_JOBS)
	cmake --preset asan
	cmake --build --preset asan -j$(JOBS)
	ctest --preset asan -j$(TEST_JOBS)
	cmake --preset fuzz
	cmake --build --preset fuzz -j$(JOBS)
	ctest --preset fuzz -j$(TEST_JOBS)
	cmake --preset tsan
	cmake --build --preset tsan -j$(JOBS) --target cleave_cli api_threads
	ctest --preset tsan
	@seconds=$$(( $$(date +%s) - $$(cat build/test.began) )); \
	echo "make test: passed in $$(( seconds / 60 )) min $$(( seconds % 60 )) s on $(JOBS) cores"

# The inputs that libFuzzer finds worth keeping are in build/fuzz/found; a crash is a file in there, named in the output.
FUZZ_SECONDS ?= 600
fuzz: deps
	cmake --preset fuzz
	cmake --build --preset fuzz -j$(JOBS)
	for target in tests/fuzz/corpus/*; do \
	    name=$$(basename $$target); mkdir -p build/fuzz/found/$$name; \
	    build/fuzz/tests/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=60 -rss_limit_mb=4096 -verbosity=0 \
	        -print_final_stats=1 -artifact_prefix=build/fuzz/found/$$name- build/fuzz/found/$$name $$target || exit 1; \
	done

# MODELS=FOLDER measures other models than those of the repository.
MODELS ?= tests/data/models
bench: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli dump_shapes count
	python3 tests/bench/bench.py build/bench/cleave --tools build/bench/tests --models $(MODELS) \
	    --scratch build/bench $(BENCH)

# PLACEMENT=FOLDER: other workloads; PLACE="--only bert" and more for tests/bench/place.py.
PLACEMENT ?= tests/data/placement
bench-place: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	python3 tests/bench/place.py build/bench/cleave $(PLACEMENT) $(PLACE)

# STRATEGY=FOLDER: other problems; SOLVE="--only A --jobs 4" and more for tests/bench/solve.py.
STRATEGY ?= tests/data/strategy
bench-solve: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	python3 tests/bench/solve.py build/bench/cleave $(STRATEGY) --scratch build/bench/strategy $(SOLVE)

# MODELS=FOLDER: other models; JOINT="--devices 4 --only vit" and more for tests/bench/joint.py.
bench-joint: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	python3 tests/bench/joint.py build/bench/cleave $(MODELS) $(JOINT)

# FORMS="--devices 16 --cluster dgx-h100-x2 --before OTHER_CLEAVE" and more for tests/bench/every_form.py.
bench-every-form: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	python3 tests/bench/every_form.py build/bench/cleave $(MODELS) $(FORMS)

# ALTERNATIVES="--runs 5 --only llama" and more for tests/bench/alternatives.py.
bench-alternatives: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	python3 tests/bench/alternatives.py build/bench/cleave $(MODELS) $(ALTERNATIVES)

# BEFORE=OTHER_CLEAVE; MODELS=FOLDER: other models; WINDOWS="--random 150 --verbose" and more for tests/bench/ilp_windows.py.
bench-windows: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	/usr/bin/python3 tests/bench/ilp_windows.py $(BEFORE) build/bench/cleave --models $(MODELS) \
	    --scratch build/bench $(WINDOWS)

# PRACTICE="--write docs/forms.md" or "--only l40s": for tests/corpus/check_forms.py. EXPORTS=FOLDER: other models of the
# same names.
EXPORTS ?=
bench-practice: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	/usr/bin/python3 tests/corpus/check_forms.py build/bench/cleave $(EXPORTS) tests/data/published tests/data/models $(PRACTICE)

# MODELS=FOLDER: other models; POOL="--seconds 0.1 --only vit" and more for tests/bench/pool.py.
bench-pool: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	python3 tests/bench/pool.py build/bench/cleave --models $(MODELS) --scratch build/bench/pool $(POOL)

# WEIGHTS="--bytes 500000000 --runs 5": for tests/bench/weights.py.
bench-weights: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	python3 tests/bench/weights.py build/bench/cleave --scratch build/bench/weights $(WEIGHTS)

# Do times hold on real accelerators? MEASURED: a folder of measured kernels for each device and served.csv.
# SERVED="--exports FOLDER --served": exported models, served models only.
bench-measured: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli
	/usr/bin/python3 tests/bench/measured.py build/bench/cleave $(MEASURED) $(SERVED)

# Are plans for this machine's processor as fast and as large as predicted? PREDICT="--rounds 20" and
# more for tests/bench/predict.py.
bench-predict: deps
	cmake --preset release -B build/bench -DCLEAVE_TESTS=ON -DCLEAVE_RUN=ON
	cmake --build build/bench -j$(JOBS) --target cleave_cli cleave_run
	/usr/bin/python3 tests/bench/predict.py build/bench/cleave build/bench/cleave-run \
	    build/bench/predict $(PREDICT)

# Offline when nothing is missing. ONNX Runtime is put under build/ where no package is installed;
# its library comes with npm, of whatever origin.
deps:
	@command -v dpkg-query >/dev/null || exit 0; \
	missing=; command -v npm >/dev/null || [ -e build/onnxruntime ] || missing=" npm"; for p in $(PACKAGES); do \
	    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" -ne 0 ]; then echo "missing packages; run as root: apt-get install$$missing" >&2; exit 1; fi; \
	apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$missing
	@[ -e /usr/include/onnxruntime/onnxruntime_c_api.h ] || \
	    sh run/get_onnxruntime.sh build/onnxruntime || \
	    echo "without ONNX Runtime cleave-run is not built, all else is (docs/running.md)" >&2

install: all
	cmake --install build/release

clean:
	rm -rf build
