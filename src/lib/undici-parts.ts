/**
 * The parts of undici that a request needs. undici's index also loads `fetch`, caches and mocks, which takes longer
 * than a small upload. The built package bundles the version in package-lock.json, so these files can't change
 * unnoticed.
 */
export { default as request } from 'undici/lib/api/api-request.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
