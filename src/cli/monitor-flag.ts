import { InvalidArgumentError } from 'commander';
import type { MonitorAddress } from '../config/config.ts';

/** Parses `HOST:PORT`, `[::1]:PORT`, or just a port, which means loopback. */
export function monitorAddress(text: string): MonitorAddress {
  const { host = '', port } = /^(?:(?<host>\[[\da-fA-F:.%]+\]|[^:[\]]+):)?(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  if (port === undefined || Number(port) > 65_535) {
    throw new InvalidArgumentError('Must be HOST:PORT, such as 127.0.0.1:9464.');
  }
  return { host: host === '' ? '127.0.0.1' : host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
