import type { Overview } from '../report/overview.ts';

/** The rest of an advice to correct the config. Only a daemon has to be told: other commands read the config each time. */
export const reloadStep = ({ daemon }: Pick<Overview, 'daemon'>): string =>
  daemon === undefined ? '' : ', then run "sluice reload"';
