# warpbayes for the processor. From the root of the sources:
#   docker build -f containers/cpu.Dockerfile -t warpbayes .
#   docker run --rm -it warpbayes
FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends r-base-core r-base-dev && rm -rf /var/lib/apt/lists/*
COPY . /tmp/warpbayes
RUN cd /tmp && R CMD build --no-build-vignettes warpbayes && WARPBAYES_CUDA=no R CMD INSTALL warpbayes_*.tar.gz && \
    rm -rf /tmp/warpbayes* && Rscript -e 'library(warpbayes); rcategorical(diag(3), seed = 1); warp_info()'
CMD ["R"]
