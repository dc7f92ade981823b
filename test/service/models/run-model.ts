import fc from 'fast-check';
import type { ServiceOptions } from '../../../src/service/service.ts';
import { type Bench, bench } from '../service.ts';

/** A step that can always be taken: it calls the service, and holds the answer against what the model expects. */
export interface Step<M> {
  readonly title: string;
  run(model: M, given: Bench): Promise<void>;
}

/**
 * Takes many walks of such steps, each in a service of its own. A walk that finds a difference between model and
 * service is made as short as can be.
 */
export async function walk<M extends object>(
  steps: readonly fc.Arbitrary<Step<M>>[],
  given: { options: () => Partial<ServiceOptions> & { given?: object }; model: () => M; walks: number; steps: number },
): Promise<void> {
  const commands = steps.map((arbitrary) =>
    arbitrary.map((step) => ({
      check: () => true,
      run: (model: M, service: Bench) => step.run(model, service),
      toString: () => step.title,
    })),
  );
  const property = fc.asyncProperty(
    fc.commands(commands, { maxCommands: given.steps, size: 'max' }),
    async (walked) => {
      const service = await bench(given.options());
      try {
        await fc.asyncModelRun(() => ({ model: given.model(), real: service }), walked);
      } finally {
        await service.close();
      }
    },
  );
  await fc.assert(property, { numRuns: given.walks });
}
