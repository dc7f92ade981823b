import type { TestProject } from 'vitest/node';
import { hasPostgres, startPostgres } from '../servers/postgres.ts';

/** Starts a PostgreSQL for the states of a project's tests (`globalSetup` of Vitest). */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!hasPostgres()) return undefined;
  const { host, port, user, password, database, stop } = await startPostgres({ settings: { max_connections: '300' } });
  project.provide('stateServer', { host, port, user, password, database });
  return stop;
}
