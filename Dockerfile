# The first stage has the build and test tools, the second only what runs. How to run it: docs/operate.md.
FROM node:26-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
# Build information; see docs/operate.md.
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

# Only the state is written; /config has sluice.yaml and belongs to the user who mounts it.
RUN mkdir /data /app/cache && chown 1000:1000 /data /app/cache
ENV NODE_ENV=production \
    XDG_CACHE_HOME=/app/cache \
    SLUICE_CONFIG=/config/sluice.yaml \
    SLUICE_STATE=/data
USER 1000:1000
# Cache compiled code in the image: the root may be read-only, and each start is faster.
RUN node src/cli/sluice.js demo
VOLUME ["/data"]
EXPOSE 9464

STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["node", "/app/src/cli/sluice.js", "health"]
ENTRYPOINT ["node", "/app/src/cli/sluice.js"]
CMD ["run"]
