import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Events } from '../../lib/events.ts';
import type { Log } from '../../lib/log.ts';
import { redact } from '../../lib/redact.ts';
import { isFailedRun } from '../../state/runs/failed-run.ts';
import type { SluiceEvents } from '../events.ts';

/**
 * Maximum number of runs to remember for later uploads. Beyond this limit, the oldest run is forgotten, so its upload
 * starts a separate trace.
 */
const maxRemembered = 2_000;

export interface TracesOptions {
  readonly events: Events<SluiceEvents>;
  readonly log: Log;
  readonly version: string;
}

/** Whether spans are recorded, which means that an OpenTelemetry SDK is loaded. */
export function hasSdk(): boolean {
  const probe = trace.getTracer('sluice').startSpan('sluice.probe');
  return trace.isSpanContextValid(probe.spanContext());
}

/**
 * Creates spans from events: one per run, with child spans for the extract and for each upload attempt, even long after
 * the run. Logs a notice if no SDK is loaded.
 */
export function traceEvents({ events, log, version }: TracesOptions): void {
  if (!hasSdk()) {
    log.warn(
      'traces are enabled, but this protocol needs an OpenTelemetry SDK: load one with NODE_OPTIONS="--import …"',
    );
    return;
  }
  const tracer = trace.getTracer('sluice', version);
  const spans = new Spans(tracer);
  events.listen((...[name, facts]) => {
    if (name === 'run.started') spans.begin(`run ${facts.run}`, 'sluice.run', facts);
    if (name === 'extract.started') spans.begin(`extract ${facts.run}`, 'sluice.extract', facts);
    if (name === 'extract.finished') spans.end(`extract ${facts.run}`, { rows: facts.rows });
    if (name === 'extract.unchanged') spans.end(`extract ${facts.run}`, { unchanged: true });
    if (name === 'extract.failed') spans.end(`extract ${facts.run}`, facts, facts.message);
    if (name === 'run.retrying') spans.end(`run ${facts.run}`, facts, facts.message);
    if (name === 'run.finished') {
      const failure = isFailedRun(facts.outcome) ? (facts.message ?? facts.outcome) : undefined;
      spans.end(`run ${facts.run}`, facts, failure);
    }
    if (name === 'upload.started') spans.begin(`upload ${facts.id}`, 'sluice.upload', facts);
    if (name === 'payload.delivered' || name === 'payload.superseded' || name === 'payload.dead') {
      spans.end(`upload ${facts.id}`, {});
    }
    if (name === 'payload.repeated') spans.end(`upload ${facts.id}`, {});
    if (name === 'upload.failed') spans.end(`upload ${facts.id}`, { code: facts.code }, facts.message);
  });
}

/** Open spans by subject, and the runs that later spans belong to. */
class Spans {
  readonly #tracer: Tracer;
  readonly #open = new Map<string, Span>();
  readonly #runs = new Map<string, Context>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  begin(key: string, name: string, facts: { readonly run: string }): void {
    const within = this.#runs.get(facts.run) ?? context.active();
    const span = this.#tracer.startSpan(name, { attributes: attributesOf(facts) }, within);
    this.#open.set(key, span);
    if (name === 'sluice.run') this.#remember(facts.run, trace.setSpan(within, span));
  }

  end(key: string, facts: object, trouble?: string): void {
    const span = this.#open.get(key);
    if (span === undefined) return;
    this.#open.delete(key);
    span.setAttributes(attributesOf(facts));
    if (trouble !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: redact(trouble) });
    span.end();
  }

  #remember(run: string, within: Context): void {
    this.#runs.set(run, within);
    for (const oldest of this.#runs.keys()) {
      if (this.#runs.size <= maxRemembered) break;
      this.#runs.delete(oldest);
    }
  }
}

/** An event's facts as redacted span attributes whose names start with `sluice.`. */
function attributesOf(facts: object): Attributes {
  const plain = Object.entries(facts).flatMap(([name, value]): [string, string | number | boolean][] => {
    if (typeof value === 'string') return [[`sluice.${name}`, redact(value)]];
    return typeof value === 'number' || typeof value === 'boolean' ? [[`sluice.${name}`, value]] : [];
  });
  return Object.fromEntries(plain);
}
