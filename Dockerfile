# Grus as a server, on the CPU, without a window. docs/docker.md says how to use it.
FROM debian:bookworm-slim

# PyTorch's index of builds for the CPU, as its install page gives it; without it pip fetches gigabytes for CUDA.
ARG PIP_EXTRA_INDEX_URL=

WORKDIR /opt/grus
COPY pyproject.toml setup.py grus.py README.md LICENSE ./
COPY app app
COPY backends backends
COPY docs/clients.md docs/
COPY engine engine
COPY packaging packaging
COPY resources resources

# g++ compiles the kernels once and is not kept. torch comes first and alone, so that nothing else chooses its build.
# No version of Debian's packages is named: its archive keeps the newest of each alone, so that a named one is gone with the next fix.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates g++ python3 python3-venv \
 && python3 -m venv /opt/grus/.venv \
 && torch="$(sed -n '/^ *"torch==/{s/^ *"\(torch==[0-9.]*\).*/\1/p;q;}' pyproject.toml)" \
 && .venv/bin/pip install --no-cache-dir -c packaging/constraints.txt "$torch" \
 && .venv/bin/pip install --no-cache-dir -c packaging/constraints.txt . \
 && apt-get purge -y --auto-remove g++ \
 && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 10001 grus \
 && install -d -o grus -g grus /models

USER 10001
WORKDIR /home/grus
ENV PATH=/opt/grus/.venv/bin:/usr/local/bin:/usr/bin:/bin \
    HF_HOME=/models \
    GRUS_HOST=0.0.0.0 \
    GRUS_PORT=8080
VOLUME /models
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s \
  CMD ["python3", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['GRUS_PORT'] + '/health', timeout=4)"]
CMD ["grus", "serve"]
