import { toProblem } from '../../lib/problem.ts';
import type { ServerInspection } from '../../state/engine/inspect-server.ts';
import { databaseText, type StateDatabase } from '../../state/engine/state-database.ts';
import { bad, type Finding, good } from './finding.ts';

const oldestVersion = 150_000;
/** A transaction takes about ten round trips, so slower ones limit the rate at which an account can be sent to. */
const slowRoundTripMs = 10;
const roundTripsPerRequest = 30;
const maxClockDifferenceMs = 5000;

/** Reports whether the server of a state's database is suitable, or why it can't be reached. */
export async function examineServer(database: StateDatabase): Promise<Finding[]> {
  const { inspectServer } = await import('../../state/engine/inspect-server.ts');
  try {
    return serverFindings(await inspectServer(database));
  } catch (thrown) {
    const { message, next } = toProblem(thrown, { code: 'STATE_UNREACHABLE', family: 'try_later' });
    return [bad('database', message, next ?? `check the server at ${databaseText(database)}`)];
  }
}

export function serverFindings(seen: ServerInspection): Finding[] {
  return [
    versionFinding(seen),
    rightsFinding(seen),
    roundTripFinding(seen),
    clockFinding(seen),
    ...replicationFindings(seen),
  ];
}

function versionFinding({ version, versionNumber, isPooled }: ServerInspection): Finding {
  const through = isPooled ? ', through a connection pooler' : '';
  return versionNumber >= oldestVersion
    ? good('database version', `PostgreSQL ${version}${through}`)
    : bad('database version', `PostgreSQL ${version} is too old${through}`, 'upgrade it to version 15 or later');
}

function rightsFinding({ schema, hasSchema, mayCreate, isReadOnly, user }: ServerInspection): Finding {
  if (isReadOnly) {
    const fix = 'use the address of the primary server, and check default_transaction_read_only';
    return bad('database rights', 'the database is read-only', fix);
  }
  const name = `"${user}"`;
  if (mayCreate) return good('database rights', `${name} can create tables in the schema ${schema}`);
  return hasSchema
    ? bad(
        'database rights',
        `${name} cannot create tables in the schema ${schema}`,
        `grant all on schema ${schema} to ${name}`,
      )
    : bad(
        'database rights',
        `${name} cannot create the schema ${schema}`,
        `create schema ${schema} authorization ${name}`,
      );
}

function roundTripFinding({ roundTripMs }: ServerInspection): Finding {
  const message = `${roundTripMs.toFixed(1)} ms for a round trip to the database`;
  if (roundTripMs < slowRoundTripMs) return good('database latency', message);
  const rate = 1000 / (roundTripMs * roundTripsPerRequest);
  return bad(
    'database latency',
    `${message}, so Sluice sends at most about ${rate.toFixed(1)} requests per second`,
    'run Sluice close to the database, such as in the same zone',
  );
}

function clockFinding({ clockDifferenceMs }: ServerInspection): Finding {
  const message = `the database's clock differs from this machine's by ${(Math.abs(clockDifferenceMs) / 1000).toFixed(1)} s`;
  return Math.abs(clockDifferenceMs) <= maxClockDifferenceMs
    ? good('database clock', message)
    : bad('database clock', message, 'synchronize both clocks; schedules follow the clock of the database');
}

function replicationFindings({ standbys, isCommitSynchronous, isCommitDurable }: ServerInspection): Finding[] {
  if (!isCommitDurable)
    return [
      bad(
        'database durability',
        'synchronous_commit is off, so a crash of the server loses the latest transactions',
        'set synchronous_commit to on for this database and user',
      ),
    ];
  if (standbys === 0) return [];
  return [
    isCommitSynchronous
      ? good('database durability', 'transactions are replicated synchronously')
      : bad(
          'database durability',
          'standby servers are asynchronous, so a failover loses the latest transactions',
          "set synchronous_standby_names; otherwise, after a failover, each job sends all its rows again and some of the day's requests are not counted",
        ),
  ];
}
