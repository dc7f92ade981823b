import type { Config } from '../../config/config.ts';
import type { Runtime } from '../../daemon/compose.ts';
import { type ClientOf, planApply } from '../../delivery/apply.ts';
import { carryOutPlan } from '../../delivery/carry-out-plan.ts';
import { DestinationClient } from '../../delivery/client.ts';

/** Creates the data sources that a config declares. Returns one sentence per action. */
export async function declare(given: { runtime: Runtime; config: Config; signal: AbortSignal }): Promise<string[]> {
  const { runtime, config, signal } = given;
  const { gateway, store } = runtime;
  const clientOf: ClientOf = ({ destination }) =>
    new DestinationClient({ gateway, gate: gateway.of(destination), priority: 'person', signal });
  const plan = await planApply(config, store, clientOf);
  await carryOutPlan(plan, { store, clientOf });
  return plan.actions.map(({ say }) => say);
}
