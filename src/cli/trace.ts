import type { SluiceEvents } from '../daemon/events.ts';
import type { Events } from '../lib/events.ts';
import type { Log } from '../lib/log.ts';
import { version } from './version.ts';

/** Makes spans of what happens, where the environment asks for them; nobody else pays for loading what makes them. */
export async function traceWhereAsked(given: {
  readonly events: Events<SluiceEvents>;
  readonly log: Log;
}): Promise<void> {
  if (!wantsTraces(process.env)) return;
  const { traceEvents } = await import('../daemon/traces.ts');
  traceEvents({ ...given, version });
}

/** Whether the variables of the standard ask for traces. */
export function wantsTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
  const asking = ['OTEL_TRACES_EXPORTER', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  return asking.some((name) => (env[name] ?? '') !== '');
}
