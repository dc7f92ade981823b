import { expect, it } from 'vitest';
import { openPeer, type Peer } from '../peers/peer.ts';
import { type Home, makeHome } from './home.ts';
import { forTest } from './process.ts';

const connectors = new URL('../oauth/connectors/', import.meta.url).pathname;

/**
 * A user of Sluice whose peers all accept connections but never respond: a login, sources, the service, a mail server.
 */
async function makePlace(): Promise<{ peer: Peer; home: Home }> {
  const peer = await openPeer();
  const home = await makeHome(forTest);
  const at = `127.0.0.1:${peer.port}`;
  const robot = { grant: 'client_credentials', client_id: 'a', client_secret: 'b' };
  const job = (source: string, query: unknown) => ({ source, query, format: 'csv', target: source });
  await home.config({
    connectors,
    destinations: { main: { url: `http://${at}/api/1.0`, api_key: 'k'.repeat(40) } },
    sources: {
      robot: { connector: 'acme', url: `http://${at}`, login: robot },
      person: { connector: 'acme', url: `http://${at}`, login: { client_id: 'person', client_secret: 'b' } },
      // Logins of the same account run one after another, so each source has its own account here.
      postgres: { connector: 'db', url: `postgres://p:b@${at}/c`, connect_timeout_seconds: 600 },
      mysql: { connector: 'db', url: `mysql://m:b@${at}/c`, connect_timeout_seconds: 600 },
      sqlserver: { connector: 'db', url: `sqlserver://s:b@${at}/c`, connect_timeout_seconds: 600 },
      files: { connector: 'ftp', protocol: 'ftp', host: '127.0.0.1', port: peer.port, connect_timeout_seconds: 600 },
      api: { connector: 'simple_rest', url: `http://${at}`, timeout_seconds: 600 },
    },
    jobs: {
      robot: { source: 'robot', format: 'csv', target: 'robot' },
      postgres: job('postgres', 'select 1 as n'),
      mysql: job('mysql', 'select 1 as n'),
      sqlserver: job('sqlserver', 'select 1 as n'),
      files: job('files', 'a.csv'),
      api: job('api', { path: '/rows' }),
    },
  });
  return { peer, home };
}

it.each([
  ['login robot', 1],
  ['login person --code', 1],
  ['check --connect', 7],
  ['sync', 3],
] as const)('sluice %s exits cleanly on SIGTERM even if none of its peers respond', async (command, connections) => {
  const { peer, home } = await makePlace();
  const running = home.start(command.split(' '));
  await expect.poll(peer.open).toBeGreaterThanOrEqual(connections);
  running.child.kill('SIGTERM');
  // A process that doesn't exit by itself is ended by a signal.
  expect(await running.ended).toMatchObject({ code: 143, signal: null });
});
