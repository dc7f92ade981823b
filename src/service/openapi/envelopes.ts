import type { TProperties } from 'typebox';
import { errorStatuses } from '../http/api-error.ts';
import { fieldsSchema, type OpenApiSchema } from './schemas.ts';

/** The part of an endpoint's declaration that determines its envelope. */
interface EnvelopeOptions {
  readonly status: number;
  readonly data: OpenApiSchema;
  readonly isList: boolean;
  /** Additional fields of `meta`. */
  readonly meta?: TProperties | undefined;
}

const text: OpenApiSchema = { type: 'string' };
const count: OpenApiSchema = { type: 'integer', format: 'int64', minimum: 0 };

/** Describes a successful response's envelope as a JSON Schema. */
export function envelopeSchema({ status, data, isList, meta: added = {} }: EnvelopeOptions): OpenApiSchema {
  const meta = {
    success: { type: 'boolean' },
    status: { type: 'integer', format: 'int32', description: 'the HTTP status' },
    ...(status === 201 && { location: { ...text, description: "path of the new asset; it ends with the asset's ID" } }),
    ...fieldsSchema(added).properties,
    ...(isList && {
      count: { ...count, description: 'number of items in this response' },
      total: { ...count, description: 'number of items in the whole list' },
    }),
  };
  const model =
    Object.keys(added).length > 0 ? undefined : isList ? 'ListMeta' : status === 201 ? 'CreatedMeta' : 'Meta';
  return {
    type: 'object',
    required: ['meta', 'data'],
    properties: {
      meta: { type: 'object', ...(model && { 'x-model': model }), required: Object.keys(meta), properties: meta },
      data,
    },
  };
}

/** The JSON Schema of an error response, which contains only `meta`. */
export const errorEnvelope: OpenApiSchema = {
  type: 'object',
  'x-model': 'ErrorEnvelope',
  required: ['meta'],
  properties: {
    meta: {
      type: 'object',
      'x-model': 'ErrorMeta',
      required: ['success', 'status', 'error_code', 'error_desc', 'error_id'],
      properties: {
        success: { type: 'boolean' },
        status: { type: 'integer', format: 'int32', minimum: 400, maximum: 599, description: 'the HTTP status' },
        error_code: { type: 'string', 'x-model': 'ErrorCode', enum: Object.keys(errorStatuses) },
        error_desc: { ...text, description: 'what is wrong, and what is allowed' },
        error_id: { type: 'string', pattern: '^[0-9a-f]{32}$', description: "also in the service's log" },
      },
    },
  },
};
