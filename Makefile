# SPDX-License-Identifier: MIT
# For people; CMake does the work. `make test` and `make demo` set up everything they need themselves.
BUILD := build
MAKEFLAGS += --no-print-directory

.PHONY: all build demo test bench sim sim-rival sim-run clean deps

all: build

deps:
	@sh deps/setup.sh

$(BUILD)/CMakeCache.txt: | deps
	cmake -S . -B $(BUILD) $(CMAKE_FLAGS)

build: deps $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) --parallel

demo: build
	@$(BUILD)/bin/rockfill-demo --library $(BUILD)/libggml-rockfill.so --prompt bench/prompt.txt --software llvmpipe \
	    --models $(BUILD)/deps/models/smollm2-135m-instruct-q4_1.gguf $(BUILD)/deps/models/gemma-3-270m-q4_k_m.gguf \
	    --out $(BUILD)/results/demo.json

test: build
	@python3 tests/run.py --build $(BUILD)

bench: build
	@python3 bench/run.py --build $(BUILD)

sim: build
	@python3 sim/sim.py --build $(BUILD)

sim-rival: build
	@python3 sim/sim.py --build $(BUILD) --rival

sim-run: build
	@python3 sim/execute.py --build $(BUILD)

clean:
	rm -rf $(BUILD)
