import { pullDatasource } from '../../src/cli/pull.ts';

/** Refreshes from the given URL until it's killed. */
const request = {
  connector: 'simple_rest',
  format: 'json',
  properties: { endpoint_url: process.argv[2] },
  reach: { host: '127.0.0.1', allowPrivate: false },
  signal: new AbortController().signal,
} as const;
await Array.fromAsync(pullDatasource(request));
