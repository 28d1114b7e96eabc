# The command as an image: no compiler, no npm cache, an ordinary user, one volume.
#
#   docker build --tag content-warehouse:0.1.0 .
#   docker run --rm --init --volume warehouse:/warehouse content-warehouse:0.1.0 run nightly --sample
#   docker run --rm --init --volume warehouse:/warehouse --volume "$PWD:/config:ro" --env CONTENT_API_TOKEN \
#     content-warehouse:0.1.0 run nightly
#
# A lake in a bucket and PostgreSQL need optional packages, within the ranges of package.json:
#
#   docker build --build-arg PACKAGES="@aws-sdk/client-s3@3.1175.0" --tag content-warehouse:0.1.0 .
#
# A configuration in /config is found by its name. In a build that must be the same for years, name the base image by
# its digest too: node:24.21.0-trixie-slim@sha256:...

FROM node:24.21.0-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
COPY pipelines pipelines
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund
ARG PACKAGES=""
RUN [ -z "$PACKAGES" ] || npm install --save-prod --omit=dev --ignore-scripts --no-audit --no-fund $PACKAGES

FROM node:24.21.0-trixie-slim
WORKDIR /opt/content-warehouse
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY data/sample data/sample
COPY docs docs
COPY LICENSE config.schema.json ./
# A pipeline of your own in /config can import "content-warehouse" by its name.
RUN mkdir /node_modules /config \
  && ln -s /opt/content-warehouse /node_modules/content-warehouse \
  && ln -s /opt/content-warehouse/dist/src/cli/main.js /usr/local/bin/content-warehouse \
  && install --directory --owner=1000 --group=1000 --mode=0750 /warehouse
ENV NODE_ENV=production CONTENT_WAREHOUSE_DIR=/warehouse
USER 1000:1000
WORKDIR /config
VOLUME /warehouse
ENTRYPOINT ["content-warehouse"]
CMD ["--help"]
