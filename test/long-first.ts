import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files, slowest first. */
const longest = [
  'conformance/connectors',
  'journey/kept-rows',
  'simulate/simulate',
  'journey/guards',
  'journey/crash',
  'connectors/ftp',
  'journey/faults',
  'service/refresh-sources',
  'journey/blocked',
  'journey/memory',
  'journey/secrets',
  'cli/commands',
  'connectors/ftp-faults',
  'journey/leaks',
  'connectors/db-cursor',
  'journey/state-locked',
  'journey/login',
  'docs/command-lines',
  'deploy/dockerfile',
  'daemon/alerting/alert-loop',
  'chaos/kill-sync',
  'chaos/kill-decisions',
  'connectors/db-postgres',
  'daemon/retry/model',
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
