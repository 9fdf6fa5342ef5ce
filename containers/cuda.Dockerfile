# warpbayes for NVIDIA graphics cards. The host needs NVIDIA's driver and its container toolkit. From the root of the
# sources:
#   docker build -f containers/cuda.Dockerfile -t warpbayes-cuda .
#   docker run --rm -it --gpus all warpbayes-cuda
# For one generation of cards only, in less time: --build-arg WARPBAYES_CUDA_ARCH=9.0. "all" has machine code for every
# generation, since a container does not keep what the driver compiles.
FROM nvidia/cuda:13.0.0-devel-ubuntu24.04 AS build
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends r-base-core r-base-dev && \
    rm -rf /var/lib/apt/lists/*
ARG WARPBAYES_CUDA_ARCH=all
COPY . /tmp/warpbayes
RUN cd /tmp && R CMD build --no-build-vignettes warpbayes && mkdir /library && \
    WARPBAYES_CUDA=yes R CMD INSTALL --library=/library warpbayes_*.tar.gz

# The plugin needs the driver only, which the container toolkit brings, and no part of the CUDA toolkit.
FROM ubuntu:24.04
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends r-base-core libgomp1 && \
    rm -rf /var/lib/apt/lists/*
COPY --from=build /library/warpbayes /usr/local/lib/R/site-library/warpbayes
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
RUN Rscript -e 'library(warpbayes); rcategorical(diag(3), seed = 1); warp_info()'
CMD ["R"]
