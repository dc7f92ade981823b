import { DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Log } from '../../lib/log.ts';

/** Maximum time for which a command waits for a trace collector before it exits. */
const flushMs = 3_000;

/**
 * A minimal exporter, for users who haven't loaded an SDK: sends spans with OTLP over HTTP, as JSON. Reads the address,
 * headers, timeout, batching and resource from the standard environment variables. Returns a function to call on exit,
 * which flushes the spans, has a timeout and never throws.
 */
export function startTraceKit({ version, log }: { version: string; log: Log }): () => Promise<void> {
  diag.setLogger(sayingTo(log), DiagLogLevel.WARN);
  const own = resourceFromAttributes({ 'service.name': 'sluice', 'service.version': version });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter(patience(process.env)))],
  });
  trace.setGlobalTracerProvider(provider);
  return async () => {
    const late = new Promise<'late'>((resolve) => setTimeout(resolve, flushMs, 'late').unref());
    const end = await Promise.race([provider.shutdown(), late]).catch(String);
    if (end !== undefined) log.warn('failed to send traces', { message: end === 'late' ? 'no response in time' : end });
    trace.disable();
  };
}

/**
 * The standard timeout is ten seconds. A shutdown has no more time than that in total, so the default here is shorter.
 */
function patience(env: Readonly<Record<string, string | undefined>>): { timeoutMillis?: number } {
  const configuredTimeout = env.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? env.OTEL_EXPORTER_OTLP_TIMEOUT ?? '';
  return configuredTimeout === '' ? { timeoutMillis: flushMs } : {};
}

/** Logs errors, such as an unreachable collector. Tracing errors must not stop anything. */
function sayingTo(log: Log) {
  const warn = (message: string): void => log.warn('failed to send traces', { message });
  const quiet = (): void => undefined;
  return { error: warn, warn, info: quiet, debug: quiet, verbose: quiet };
}
