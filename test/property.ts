import fc from 'fast-check';

const { SLUICE_SEED: seed = '1', SLUICE_RUNS_FACTOR: factor = '1' } = process.env;

/**
 * How often a property is tested: `runs` times, multiplied by SLUICE_RUNS_FACTOR.
 *
 * @param runs the number for `npm test`
 */
export const runsOf = (runs: number): number => Math.ceil(runs * Number(factor));

/*
 * The same cases each time, so that a run's result depends only on the code. SLUICE_SEED sets another seed, to repeat a
 * failure; SLUICE_SEED=random, used by `npm run test:random`, searches for new cases.
 */
fc.configureGlobal({ numRuns: runsOf(100), ...(seed === 'random' ? {} : { seed: Number(seed) }) });

export default fc;
