import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest files, slowest first. */
const longest = [
  'conformance/connectors',
  'journey/blocked',
  'chaos/full-disk',
  'connectors/ftp-faults',
  'journey/leaks',
  'journey/state-locked',
  'chaos/kill-sync',
  'connectors/ftp',
  'docs/command-lines',
  'deploy/dockerfile',
  'journey/crash',
  'journey/kept-rows',
  'service/refresh-sources',
  'journey/guards',
  'chaos/kill-decisions',
  'journey/memory',
  'cli/commands',
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
