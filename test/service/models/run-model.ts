import type { ServiceOptions } from '../../../src/service/service.ts';
import fc, { runsOf } from '../../property.ts';
import { type Bench, bench } from '../service.ts';

/** A step that is always possible: it calls the service and compares the response with the model. */
export interface Step<M> {
  readonly title: string;
  run(model: M, given: Bench): Promise<void>;
}

/**
 * Runs many random sequences of such steps, each with its own service. If a sequence finds a difference between model
 * and service, it's shrunk.
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
  await fc.assert(property, { numRuns: runsOf(given.walks) });
}
