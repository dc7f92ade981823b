import type { TargetSession } from './options.ts';

/** Asks a PostgreSQL server for what {@link objectionTo} needs. */
export const targetQuery =
  "select pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('transaction_read_only') = 'on'";

/**
 * Why a server isn't one that the source asks for; undefined if it is.
 *
 * @param facts the row that {@link targetQuery} returns
 */
export function objectionTo(target: TargetSession, [isStandby, isReadOnly]: readonly string[]): string | undefined {
  if (target === 'read-write' && isReadOnly === 'true') return 'sessions are read-only';
  if (target === 'read-only' && isReadOnly === 'false') return 'sessions are not read-only';
  if (target === 'primary' && isStandby === 'true') return 'it is a standby';
  if (target === 'standby' && isStandby === 'false') return 'it is not a standby';
  return undefined;
}
