# Any image with Node 24 or later works, for example one of your own registry:
#   docker build --build-arg NODE_IMAGE=registry.example/node:24 --tag gym-model-proxy .
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The optional packages bring a Node; this image has its own.
RUN npm ci --omit=dev --omit=optional --ignore-scripts

# Types are taken out here: what does it would stay loaded in the proxy, with 30 MB.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json ./
COPY config ./config
COPY examples ./examples
COPY routes ./routes
COPY src ./src
COPY scripts/build-dist.ts ./scripts/build-dist.ts
RUN node --disable-warning=ExperimentalWarning scripts/build-dist.ts

FROM ${NODE_IMAGE}
# They keep the resident memory small: see docs/performance.md, Memory.
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=8 \
    MALLOC_ARENA_MAX=1 \
    MALLOC_TRIM_THRESHOLD_=1048576 \
    GYM_PROXY_HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY --from=build /app/dist ./dist
COPY scripts/healthcheck.mjs ./scripts/healthcheck.mjs
# A number, so that Kubernetes can see that it is not root; the user needs no name and no home.
RUN mkdir --parents /data && chown 10001:10001 /data \
    && ln --symbolic /app/bin/gym-model-proxy.mjs /usr/local/bin/gym-model-proxy
USER 10001:10001
# The default ledger, ./data/ledger.db, lies on the volume from here; a configuration file can still name another one.
WORKDIR /
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
    CMD ["node", "/app/scripts/healthcheck.mjs"]
ENTRYPOINT ["node", "/app/bin/gym-model-proxy.mjs"]
CMD ["serve"]
