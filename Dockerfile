# Codur as an ordinary user, with bubblewrap, git and Python: docker build -t codur .
FROM docker.io/library/python:3.12-slim-bookworm AS build
COPY requirements.lock /src/
RUN python -m venv /opt/codur && /opt/codur/bin/pip install --no-cache-dir --require-hashes -r /src/requirements.lock
COPY pyproject.toml README.md LICENSE /src/
COPY docs/codur.1 /src/docs/
COPY config /src/config
COPY codur /src/codur
RUN /opt/codur/bin/pip install --no-cache-dir --no-deps /src && /opt/codur/bin/pip uninstall --yes pip

FROM docker.io/library/python:3.12-slim-bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends bubblewrap git && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/codur /opt/codur
RUN useradd --uid 1000 --create-home codur && mkdir /work && chown codur /work
ENV PATH=/opt/codur/bin:$PATH LANG=C.UTF-8
USER codur
WORKDIR /work
ENTRYPOINT ["codur"]
CMD ["--help"]
