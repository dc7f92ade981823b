# The first stage has compilers and tests' tools, the second only what runs. How to run it: docs/operate.md.
FROM node:26-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# What the image says of itself; docs/operate.md shows where it comes from.
ARG SLUICE_COMMIT=""
ARG SOURCE_DATE_EPOCH=""
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts

FROM node:26-slim
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY --from=build /build/config ./config
COPY --from=build /build/src/cli/sluice.js ./src/cli/sluice.js

# The state is the one thing that is written; /config holds sluice.yaml and belongs to whoever mounts it.
RUN mkdir /data /app/cache && chown 1000:1000 /data /app/cache
ENV NODE_ENV=production \
    XDG_CACHE_HOME=/app/cache \
    SLUICE_CONFIG=/config/sluice.yaml \
    SLUICE_STATE=/data
USER 1000:1000
# Compiled code is kept in the image: the root may be read-only, and each start is quicker for it.
RUN node src/cli/sluice.js demo
VOLUME ["/data"]
EXPOSE 9464

STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["node", "/app/src/cli/sluice.js", "health"]
ENTRYPOINT ["node", "/app/src/cli/sluice.js"]
CMD ["run"]
