import type { Connection } from 'pg';
import { expect, it } from 'vitest';
import { Portal } from '../../connectors/db/postgres-statement.ts';

/** A portal on a connection that records the requests. */
function portalOn() {
  const said: string[] = [];
  const verb = (name: string) => () => said.push(name);
  const names = ['parse', 'bind', 'execute', 'flush', 'sync'];
  const connection = Object.fromEntries(names.map((name) => [name, verb(name)])) as unknown as Connection;
  const nothing = () => {};
  const portal = new Portal({
    sql: 'select 1',
    parameters: [],
    rows: 10,
    begin: nothing,
    suspended: nothing,
    complete: nothing,
    ready: nothing,
    fail: nothing,
  });
  portal.submit(connection);
  return { portal, said };
}

it("doesn't request another slice if buffer space becomes free after the last one", () => {
  const { portal, said } = portalOn();
  portal.handlePortalSuspended();
  portal.handleCommandComplete();
  portal.proceed();
  expect(said).toEqual(['parse', 'bind', 'execute', 'execute', 'flush', 'sync']);
});

it("doesn't request another slice after an error", () => {
  const { portal, said } = portalOn();
  portal.handlePortalSuspended();
  portal.handleError(new Error('division by zero'));
  portal.proceed();
  expect(said).toEqual(['parse', 'bind', 'execute', 'execute', 'flush', 'sync']);
});
