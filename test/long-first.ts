import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files, slowest first. */
const longest = [
  'conformance/connectors',
  'journey/blocked',
  'connectors/ftp',
  'simulate/simulate',
  'journey/guards',
  'journey/kept-rows',
  'journey/crash',
  'journey/state-locked',
  'daemon/retry/real-outages',
  'journey/leaks',
  'connectors/ftp-faults',
  'journey/memory',
  'journey/hand-over',
  'journey/faults',
  'chaos/disk',
  'journey/refused-login',
  'chaos/kill-sync',
  'docs/command-lines',
  'chaos/kill-retry',
  'service/refresh-sources',
  'journey/source',
  'cli/commands',
  'connectors/sftp-silent',
  'journey/login',
  'journey/secrets',
  'daemon/alerting/alert-loop',
  'daemon/login-holds/login-waits',
  'deploy/dockerfile',
  'journey/backfill',
  'daemon/login-holds/login-holds-servers',
  'connectors/db-postgres',
  'connectors/db-chunks',
  'service/kill',
  'chaos/many',
  'daemon/firing/clock',
  'connectors/db-cursor',
  'chaos/kill-decisions',
];

/** Runs the slow files first, so that none of them runs alone at the end; a new checkout has no recorded durations. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place < 0 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
