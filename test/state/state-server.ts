import type { TestProject } from 'vitest/node';
import { hasPostgres, startPostgres } from '../servers/postgres.ts';
import { checkLocks } from './lock-check.ts';

/** Starts a PostgreSQL for the states of a project's tests (`globalSetup` of Vitest). */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!hasPostgres()) {
    process.stderr.write("NOT RUN: the state's tests with a PostgreSQL server: apt-get install postgresql\n");
    return undefined;
  }
  const server = await startPostgres({ settings: { max_connections: '300', autovacuum: 'off' } });
  await checkLocks(server);
  const { host, port, user, password, database, stop } = server;
  project.provide('stateServer', { host, port, user, password, database });
  return stop;
}
