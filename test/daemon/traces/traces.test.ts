import { context, trace } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { describe, expect, it, onTestFinished } from 'vitest';
import { wantsTraces } from '../../../src/cli/start/start-tracing.ts';
import type { Job } from '../../../src/config/config.ts';
import type { Runtime } from '../../../src/daemon/compose.ts';
import { traceEvents } from '../../../src/daemon/traces/traces.ts';
import { type Log, quietLog } from '../../../src/lib/log.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { registerSecret } from '../../../src/lib/redact.ts';
import { overdue, type Source, setUp, startDaemon } from '../rig.ts';

/** A real SDK with an exporter that keeps what it receives. */
function loadKit(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  onTestFinished(() => {
    trace.disable();
    context.disable();
  });
  return exporter;
}

/** One job that fires at once, with its events traced from the start. */
async function startTraced(says: Source['says'] = async () => 'hello', log = quietLog, more: Partial<Job> = {}) {
  const { source, job, config } = await setUp(more);
  source.says = says;
  const before = async (runtime: Runtime) => {
    await overdue(job)(runtime);
    traceEvents({ events: runtime.events, log, version: '1.2.3' });
  };
  return startDaemon(config, { before });
}

describe('traces', () => {
  it('are enabled and disabled by the standard environment variables', () => {
    expect(wantsTraces({})).toBe(false);
    expect(wantsTraces({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })).toBe(true);
    expect(wantsTraces({ OTEL_TRACES_EXPORTER: 'otlp' })).toBe(true);
    expect(wantsTraces({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' })).toBe(
      false,
    );
    expect(wantsTraces({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' })).toBe(false);
  });

  it('contain a run, its extract and its upload, even if the upload ends after the run', async () => {
    const exporter = loadKit();
    const started = await startTraced();
    await started.hear('payload.delivered');
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name }) => name)).toEqual(['sluice.extract', 'sluice.run', 'sluice.upload']);
    const [extract, run, upload] = spans;
    for (const child of [extract, upload]) expect(child?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId);
    expect(run?.attributes).toMatchObject({ 'sluice.job': 'orders', 'sluice.outcome': 'owed', 'sluice.rows': 1 });
    expect(extract?.attributes).toMatchObject({ 'sluice.source': 'made', 'sluice.rows': 1 });
  });

  it("contain each of a run's attempts as a separate span", async () => {
    const exporter = loadKit();
    let asked = 0;
    const says: Source['says'] = async () => {
      if (++asked > 1) return 'hello';
      throw new Problem({ code: 'DB_UNREACHABLE', family: 'try_later', message: 'connection refused' });
    };
    const retry = { firstMs: 20, longestMs: 20, withinMs: 60_000 };
    const started = await startTraced(says, quietLog, { retry });
    await started.hear('payload.delivered');
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ name, status }) => `${name} ${status.message ?? 'good'}`)).toEqual([
      'sluice.extract connection refused',
      'sluice.run connection refused',
      'sluice.extract good',
      'sluice.run good',
      'sluice.upload good',
    ]);
  });

  it('contain failures, but no secrets', async () => {
    registerSecret('hunter-of-secrets');
    const exporter = loadKit();
    const started = await startTraced(() => Promise.reject(new Error('no entry for hunter-of-secrets')));
    await started.hear('run.finished');
    const [extract, run] = exporter.getFinishedSpans();
    for (const span of [extract, run])
      expect(span?.status).toMatchObject({ code: 2, message: expect.stringContaining('no entry for [redacted]') });
    expect(JSON.stringify([extract?.attributes, run?.attributes])).not.toContain('hunter');
  });

  it('mark a run as failed if a guard rejects its payload', async () => {
    const exporter = loadKit();
    const started = await startTraced(undefined, quietLog, { guards: { rows: { minimum: 2 } } });
    await started.hear('run.finished');
    const run = exporter.getFinishedSpans().find(({ name }) => name === 'sluice.run');
    expect(run?.attributes).toMatchObject({ 'sluice.outcome': 'quarantined' });
    expect(run?.status).toMatchObject({ code: 2 });
  });

  it('are missing, with a warning, if no SDK is loaded', async () => {
    const lines: string[] = [];
    const log: Log = { ...quietLog, warn: (message) => void lines.push(message) };
    await startTraced(undefined, log);
    expect(lines).toEqual([expect.stringContaining('load one with NODE_OPTIONS')]);
  });
});
