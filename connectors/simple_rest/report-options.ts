import { option } from '#sdk';
import { type SideCall, sideCallProperties } from './auth.ts';
import { span, text } from './schemas.ts';

type Scalar = string | number | boolean;

/** A report that the server creates on request: the calls that start and poll it. The query itself fetches the result. */
export interface RestReport {
  /** `keep`: places in the response, by name, of the values that later requests need. */
  readonly start: SideCall & { readonly keep: Readonly<Record<string, string>> };
  readonly poll: SideCall & {
    /** Place of the report's state, and the states that mean that the report is ready or has failed. */
    readonly state: string;
    readonly done: Scalar | readonly Scalar[];
    readonly failed?: Scalar | readonly Scalar[];
    readonly keep?: Readonly<Record<string, string>>;
    readonly every?: string;
    readonly at_most?: string;
  };
}

const keep = { type: 'object', additionalProperties: text, minProperties: 1 };
const scalar = { type: ['string', 'number', 'boolean'] };
const states = { anyOf: [scalar, { type: 'array', items: scalar, minItems: 1 }] };

/** The option `report` of a query. */
export const report = option.schema<RestReport | undefined>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['start', 'poll'],
    properties: {
      start: {
        type: 'object',
        additionalProperties: false,
        required: ['path', 'keep'],
        properties: {
          ...sideCallProperties,
          keep: {
            ...keep,
            description:
              'Places in the response, by name. Later requests can use the values: `{{ report.NAME }}`. `header(NAME)` is a header.',
          },
        },
        description: 'The request that starts the report.',
      },
      poll: {
        type: 'object',
        additionalProperties: false,
        required: ['path', 'state', 'done'],
        properties: {
          ...sideCallProperties,
          state: { ...text, description: "Place of the report's state in the response." },
          done: { ...states, description: 'States that mean that the report is ready.' },
          failed: { ...states, description: 'States that mean that the report has failed.' },
          keep: { ...keep, description: 'Places of values that the request for the result needs, by name.' },
          every: { ...span, default: '5s', description: 'First pause between polls; later pauses are longer.' },
          at_most: { ...span, default: '1h', description: 'Maximum time to wait for the report.' },
        },
        description: "The request for the report's state.",
      },
    },
  },
  {
    about:
      'A report that the server creates on request. Sluice starts it, polls it until it is ready, and then sends the query’s own request, which fetches the result. If the run is retried, it continues with the report that it has started.',
    example: {
      start: { path: '/exports', method: 'POST', body: { type: 'orders' }, keep: { id: 'id' } },
      poll: { path: '/exports/{{ report.id }}', state: 'status', done: 'done', failed: 'error' },
    },
  },
);
