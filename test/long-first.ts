import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest files of each project, slowest first. Those that mostly wait alternate with those that compute, because
 * otherwise all workers would wait at first.
 */
const longest = [
  'daemon/retry/real-outages',
  'simulate/simulate',
  'conformance/connectors',
  'service/fuzz/fuzz',
  'journey/memory',
  'journey/blocked',
  'journey/hand-over',
  'docs/command-lines',
  'peers/silent-steps',
  'cli/examples',
  'fuzz/fuzz',
  'conformance/endpoints',
  'connectors/ftp-faults',
  'journey/guards',
  'chaos/disk',
  'connectors/ftp',
  'journey/crash',
  'journey/kept-rows',
  'chaos/full-disk',
  'journey/faults',
  'journey/refused-login',
  'journey/state-locked',
  'chaos/kill-sync',
  'cli/commands',
  'journey/leaks',
  'connectors/ftp-families',
  'schedule/calendar',
  'connectors/sftp-silent',
  'service/refresh-sources',
  'console/console',
  'daemon/login-holds/login-waits',
  'deploy/dockerfile',
  'service/refresh-connectors',
  'chaos/kill-retry',
  'connectors/db-chunks',
  'journey/quota',
  'delivery/processes',
  'journey/backfill',
  'journey/secrets',
  'daemon/firing/clock',
  'connectors/db-cursor',
  'chaos/state',
  'connectors/facebook',
  'cli/init',
  'chaos/damage',
  'journey/limits',
  'journey/source',
  'chaos/many',
  'daemon/daemon',
  'journey/explain',
  'state/backup',
  'journey/login',
  'service/kill',
  'chaos/lost-writes',
  'delivery/deliver-attempts',
  'chaos/kill-decisions',
  'daemon/login-holds/login-holds-servers',
  'journey/agency',
  'chaos/second',
  'daemon/alerting/alert-loop',
  'journey/retry-kill',
];

/**
 * Runs the slow files first, so that none of them runs alone at the end; a new checkout has no recorded durations.
 * The projects of a config follow each other: a process that the files of one project share ends before a file of
 * another one starts, and the next process would load all modules again.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place < 0 ? longest.length : place;
    };
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project);
    return [...projects.values()].flatMap((own) => own.toSorted((one, other) => placeOf(one) - placeOf(other)));
  }
}
