/**
 * The entry point for connector tests, imported as `#sdk/testing`, and from outside this package as
 * `sluice/sdk/testing`.
 */
export type { Check } from './check.ts';
export { hostileNames, hostileValues } from './hostile.ts';
export { connectorKit, type Kit, type KitOptions } from './kit.ts';
export type {
  CanonicalRows,
  OptionChanges,
  Options,
  Resume,
  TestSource,
  World,
  WorldPart,
} from './world.ts';
