# unveil with readers of all file formats and plots. The data are mounted when it is run, and no network is needed:
#   docker build -t unveil .
#   docker run --rm --network none --user "$(id -u):$(id -g)" -v "$PWD:/data" unveil \
#     identity original.csv release.csv --keys sex,age
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
COPY . /source
RUN python -m venv /opt/unveil && /opt/unveil/bin/pip install --no-cache-dir "/source[files,plot]"

FROM python:3.13-slim
COPY --from=build /opt/unveil /opt/unveil
ENV HOME=/tmp
WORKDIR /data
ENTRYPOINT ["/opt/unveil/bin/unveil"]
