# The server with its page, for CPU, without torch:
#   docker build -t factpin .
#   docker run -p 8400:8400 -v "$PWD/token.txt:/run/secrets/factpin:ro" factpin
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY constraints.txt ./
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --constraint constraints.txt "$(echo /wheels/factpin-*.whl)[html,pdf,serve]" \
    && rm -r /wheels \
    && useradd --create-home --uid 10001 factpin
USER factpin
WORKDIR /home/factpin
ENV PYTHONUTF8=1
EXPOSE 8400
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8400/health', timeout=3)"]
CMD ["factpin", "serve", "--host", "0.0.0.0", "--token-file", "/run/secrets/factpin"]
