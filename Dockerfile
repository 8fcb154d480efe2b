# docker build -t unmask .
# docker run --rm --network none --user "$(id -u):$(id -g)" --volume "$PWD:/data" unmask audit unmask.toml
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src src
RUN python -m venv /opt/unmask \
    && /opt/unmask/bin/python -m pip install --no-cache-dir --disable-pip-version-check . -c constraints.txt

FROM python:3.12-slim
COPY --from=build /opt/unmask /opt/unmask
RUN useradd --uid 1000 --no-create-home unmask
# Compiled loops are kept where any user may write, and nowhere else: the image may run read-only with a /tmp.
ENV PATH=/opt/unmask/bin:$PATH HOME=/tmp NUMBA_CACHE_DIR=/tmp/numba
USER unmask
WORKDIR /data
ENTRYPOINT ["unmask"]
CMD ["--help"]
