import type { Kysely } from 'kysely';
import { createAlertTables } from './first-schema/alerts.ts';
import { createBlobTables } from './first-schema/blobs.ts';
import { createBudgetTables } from './first-schema/budget.ts';
import { createCheckpointTables } from './first-schema/checkpoints.ts';
import { createDecisionTables } from './first-schema/decisions.ts';
import { createFleetTables } from './first-schema/fleet.ts';
import { createLoginTables } from './first-schema/logins.ts';
import { createOutboxTables } from './first-schema/outbox.ts';
import { createProcessTables } from './first-schema/processes.ts';
import { createRunTables } from './first-schema/runs.ts';
import { createScheduleTables } from './first-schema/schedules.ts';

/**
 * Creates the tables of the first release, with one file per area as in `../tables/`. Uses only column types that
 * SQLite and PostgreSQL share.
 */
export default async function up({ schema }: Kysely<unknown>): Promise<void> {
  await createProcessTables(schema);
  await createRunTables(schema);
  await createScheduleTables(schema);
  await createFleetTables(schema);
  await createOutboxTables(schema);
  await createBudgetTables(schema);
  await createCheckpointTables(schema);
  await createDecisionTables(schema);
  await createLoginTables(schema);
  await createAlertTables(schema);
  await createBlobTables(schema);
}
