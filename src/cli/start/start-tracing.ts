import type { SluiceEvents } from '../../daemon/events.ts';
import { build } from '../../lib/build.ts';
import type { Events } from '../../lib/events.ts';
import type { Log } from '../../lib/log.ts';
import { registerEncodedSecret } from '../../lib/redact.ts';

type Environment = Readonly<Record<string, string | undefined>>;

interface TracingOptions {
  readonly events: Events<SluiceEvents>;
  readonly log: Log;
}

/**
 * Starts creating trace spans if the environment enables them; otherwise, loads no tracing code. Returns a function
 * that flushes the spans and must be awaited at the very end.
 */
export async function startTracing({ events, log }: TracingOptions): Promise<() => Promise<void>> {
  const nothing = async (): Promise<void> => undefined;
  if (!wantsTraces(process.env)) return nothing;
  registerHeaders(process.env);
  const { hasSdk, traceEvents } = await import('../../daemon/traces/traces.ts');
  let flush = nothing;
  // An SDK that was loaded before Sluice (`node --import …`) belongs to the user, and has its own exporters and
  // flushing.
  if (!hasSdk() && exportsByItself(process.env)) {
    const { startTraceKit } = await import('../../daemon/traces/trace-kit.ts');
    flush = startTraceKit({ version: build.version, log });
  }
  traceEvents({ events, log, version: build.version });
  return flush;
}

/**
 * The headers for a collector contain credentials, and a collector that refuses spans may echo them. They are written
 * as `name=value,name=value`, and values may be percent-encoded.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/#specifying-headers-via-environment-variables
 */
function registerHeaders(env: Environment): void {
  const lists = [env.OTEL_EXPORTER_OTLP_HEADERS, env.OTEL_EXPORTER_OTLP_TRACES_HEADERS];
  for (const header of lists.flatMap((list = '') => list.split(','))) {
    const value = header.slice(header.indexOf('=') + 1).trim();
    registerEncodedSecret(value);
    // Without the scheme: `Bearer …`.
    registerEncodedSecret(value.replace(/^\w+(?:\s|%20|\+)+/i, ''));
  }
}

/** Whether the standard environment variables enable traces. */
export function wantsTraces(env: Environment): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
  const enablingVariables = [
    'OTEL_TRACES_EXPORTER',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  ];
  return enablingVariables.some((name) => (env[name] ?? '') !== '');
}

/** Sluice's exporter supports OTLP over HTTP. Other exporters and gRPC require the user's own SDK. */
function exportsByItself(env: Environment): boolean {
  const exporters = (env.OTEL_TRACES_EXPORTER ?? 'otlp').split(',').map((name) => name.trim());
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? '';
  return (exporters.includes('otlp') || exporters.includes('')) && !protocol.startsWith('grpc');
}
