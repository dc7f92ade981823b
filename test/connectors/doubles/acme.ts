import {
  defineService,
  type KeptColumn,
  type PreviewLimits,
  type Range,
  type ServiceDescription,
  type StreamData,
} from '../../../src/sdk/index.ts';
import { beginService, failService, runService } from './service-suite.ts';
import type { Fault, Routes } from './vendor.ts';

export interface Given {
  readonly routes: Routes;
  readonly query?: Record<string, unknown>;
  readonly source?: Record<string, unknown>;
  readonly watermark?: string;
  readonly keptColumns?: readonly KeptColumn[];
  readonly faults?: readonly Fault[];
  readonly service?: Partial<ServiceDescription>;
  readonly others?: Record<string, StreamData>;
  readonly kept?: Record<string, string>;
  readonly timezone?: string;
  readonly range?: Range;
  readonly preview?: PreviewLimits;
}

export const basics: StreamData = {
  about: 'Things.',
  request: { path: '/things' },
  records: 'data',
  columns: { id: 'integer' },
};

/** A service with one stream that consists of the parts under test. */
export function caseOf(stream: Partial<StreamData>, { service, others = {}, query = {}, ...given }: Given) {
  return {
    ...given,
    query,
    service: defineService({
      id: 'acme',
      title: 'Acme',
      summary: 'Reads what Acme has.',
      base: 'https://api.acme.example/v1',
      login: { kind: 'none' },
      check: { request: { path: '/me' }, message: 'ok' },
      ...service,
      streams: { things: { ...basics, ...stream }, ...others },
    }),
  };
}
export const run = (stream: Partial<StreamData>, given: Given) => runService(caseOf(stream, given));
export const fail = (stream: Partial<StreamData>, given: Given) => failService(caseOf(stream, given));
/** A run whose rows are read batch by batch. */
export const begin = (stream: Partial<StreamData>, given: Given) => beginService(caseOf(stream, given));
export const ids = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: from + i }));
export const numbers = (from: number, to: number) => ids(from, to).map(({ id }) => [String(id)]);
