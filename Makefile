# What CI runs is what a person runs: `make test`. `make help` lists the rest.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# The modules of the workspace, and the tools, which are not in it.
MODULES := $(shell sed -n 's/^[[:space:]]\{1,\}\(\.[^[:space:]]*\)$$/\1/p' go.work)
TOOLS   := ./tools
BIN     := $(CURDIR)/.cache/bin

# Code behind these build tags is checked as well.
TAGS := semelcrash

# Lines of passing tests that are worth seeing.
FIGURES := ^(crash test|figures): 

step = @printf '\n==> %s\n' "$(1)"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: setup static standalone js fuzz-smoke allocations race ## Set up what is missing and pass every check and test (what CI runs)

.PHONY: check
check: static ## The fast gate before a commit: format, vet, fix, staticcheck, the rules of the repository
	$(call step,rules of the repository)
	@go test ./internal/policy

.PHONY: setup
setup: ## Install what the tests need, on Debian and Ubuntu: a C compiler, Node.js, Chromium, curl, databases
	$(call step,setup)
	@scripts/setup

.PHONY: demo
demo: ## Run the demo: a shop, the gateway, and a page to break both
	@go run ./cmd/semel demo

.PHONY: js
js: ## Build the JavaScript client js/dist, print its size, check it and run its tests
	$(call step,JavaScript client)
	@scripts/js test

.PHONY: build
build: ## Build the static binary bin/semel
	@CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/semel ./cmd/semel

.PHONY: bench
bench: setup ## Compare with the code that people write without Semel, on this machine; writes docs/performance.md
	@go run ./integration/cmd/engines -- go run ./bench -write docs/performance.md

.PHONY: engines
engines: setup ## Run the databases of the tests, print their URLs, and end them at Ctrl-C
	@cd integration && go run ./cmd/engines

.PHONY: soak
soak: setup ## Kill KILLS workers of each engine (500), and servers and connections for SOAK seconds (300)
	$(call step,soak)
	@cd $(TOOLS) && GOWORK=off go build -o $(BIN)/testreport ./testreport
	@SEMEL_KILLS='$(or $(KILLS),500)' SEMEL_SOAK='$(or $(SOAK),300)' go test -race -count=1 -timeout 0 -p 1 -json \
		./integration/kills ./integration/faults ./integration/linear | $(BIN)/testreport -show '$(FIGURES)'

.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME seconds (60), or the one called NAME
	@scripts/fuzz $(or $(FUZZTIME),60) 86400 '$(NAME)'

.PHONY: tidy
tidy: ## Format the code, apply go fix, tidy all modules
	@gofmt -w .
	@go fix work
	@for module in $(MODULES) $(TOOLS) $(TOOLS)/golangci-lint; do (cd $$module && GOWORK=off go mod tidy); done

.PHONY: lint-full
lint-full: ## Run golangci-lint as well; its first build takes minutes
	$(call step,golangci-lint)
	@cd $(TOOLS)/golangci-lint && GOWORK=off go build -o $(BIN)/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@for module in $(MODULES); do echo "$$module"; (cd $$module && $(BIN)/golangci-lint run --config $(CURDIR)/.golangci.yml); done

# The steps of test, in its order.

.PHONY: static
static: format vet fix staticcheck

.PHONY: format
format:
	$(call step,gofmt)
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted, run make tidy:"; echo "$$files"; exit 1; fi

.PHONY: vet
vet:
	$(call step,go vet)
	@go vet work
	@go vet -tags='$(TAGS)' ./cmd/semel/...

.PHONY: fix
fix:
	$(call step,go fix -diff)
	@go fix -diff work && (cd $(TOOLS) && GOWORK=off go fix -diff ./...) || { echo "the code has newer forms, run make tidy"; exit 1; }

.PHONY: staticcheck
staticcheck:
	$(call step,staticcheck)
	@cd $(TOOLS) && GOWORK=off go build -o $(BIN)/staticcheck honnef.co/go/tools/cmd/staticcheck
	@$(BIN)/staticcheck work
	@$(BIN)/staticcheck -tags='$(TAGS)' ./cmd/semel/...
	@cd $(TOOLS) && GOWORK=off $(BIN)/staticcheck ./...

.PHONY: standalone
standalone:
	$(call step,each module without the workspace)
	@for module in $(MODULES) $(TOOLS); do echo "$$module"; (cd $$module && GOWORK=off go build -o /dev/null ./... && GOWORK=off go vet ./...); done

.PHONY: fuzz-smoke
fuzz-smoke:
	$(call step,fuzz smoke)
	@scripts/fuzz 5 100

# The race detector allocates by itself, so this bound is checked without it.
.PHONY: allocations
allocations:
	$(call step,bound on allocations)
	@go test -count=1 -run Allocations ./semelhttp

.PHONY: race
race:
	$(call step,tests of all modules with the race detector)
	@cd $(TOOLS) && GOWORK=off go build -o $(BIN)/testreport ./testreport
	@{ (cd $(TOOLS) && GOWORK=off go test -race -json ./...); go test -race -json work; } | $(BIN)/testreport -show '$(FIGURES)'
