import { text } from './schemas.ts';

/**
 * A parameter as defined in the service document. If its type is `header`, it's a request header; otherwise, it's a
 * query parameter.
 */
export interface RequestParameter {
  readonly name: string;
  readonly value: string | number | boolean | null;
  readonly type?: string;
}

/** A list of parameters. */
export const parameterList = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'value'],
    properties: { name: text, value: { type: ['string', 'number', 'boolean', 'null'] }, type: text },
  },
};
