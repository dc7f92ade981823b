import { option } from '#sdk';
import { paging, type RestPaging } from './paging-options.ts';
import { parameterList, type RequestParameter } from './request-parameter.ts';
import { span, text } from './schemas.ts';

type ParentValue = string | number | boolean;

/** What a query is repeated for: a list in the config, the records of another path, or the rows of another job. */
export interface ForEach {
  /** The parents. A value that isn't an object is the parent's `value`. */
  readonly values?: readonly (ParentValue | Readonly<Record<string, ParentValue>>)[];
  /** The job whose last rows are the parents. */
  readonly job?: string;
  /** The column that identifies a row of `job`. */
  readonly column?: string;
  /** Maximum age of the rows of `job`. */
  readonly max_age?: string;
  readonly path?: string;
  readonly method?: string;
  readonly parameters?: readonly RequestParameter[];
  readonly body?: unknown;
  readonly records?: string;
  readonly format?: string;
  readonly paging?: RestPaging;
  /** What the status 404 means for the first page of a parent. */
  readonly missing?: 'error' | 'skip';
  /** Maximum number of parents that are read at once. */
  readonly concurrency?: number;
  readonly max_parents?: number;
}

export const defaultConcurrency = 4;
export const defaultMaxParents = 10_000;

const scalar = { type: ['string', 'number', 'boolean'] };

/** The options `for_each` and `parent_columns` of a query. */
export const forEachOptions = {
  for_each: option.schema<ForEach | undefined>(
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        values: {
          type: 'array',
          minItems: 1,
          items: { anyOf: [scalar, { type: 'object', minProperties: 1, additionalProperties: scalar }] },
          description: 'The parents as a list: texts or numbers (`{{ parent.value }}`), or maps (`{{ parent.id }}`).',
        },
        job: {
          ...text,
          minLength: 1,
          description: 'Another job of this config. The rows that it last delivered are the parents.',
        },
        column: {
          ...text,
          minLength: 1,
          description: 'With `job`: the column that identifies a parent. Identical parents count once.',
        },
        max_age: {
          ...span,
          description: 'With `job`: the maximum age of its rows. If they are older, the run fails. Default: no limit.',
        },
        path: { ...text, minLength: 1, description: 'Path whose records are the parents.' },
        method: { ...text, pattern: '^[A-Za-z]+$', default: 'GET', description: 'Method of the request to `path`.' },
        parameters: { ...parameterList, description: 'Parameters of the request to `path`.' },
        body: { type: ['string', 'object', 'array'], description: 'Body of the request to `path`.' },
        records: { ...text, description: 'Path of the records in the responses from `path`.' },
        format: {
          enum: ['json', 'jsonl', 'csv', 'xml'],
          description: 'Format of the responses from `path`, if the content type is wrong.',
        },
        paging: { ...paging.schema, description: 'How to request the next page of `path`.' },
        missing: {
          enum: ['error', 'skip'],
          default: 'error',
          description: 'Whether the status 404 for a parent fails the run, or means that it has no records.',
        },
        concurrency: {
          type: 'integer',
          minimum: 1,
          maximum: 16,
          default: defaultConcurrency,
          description: 'Maximum number of parents that are read at once, within `requests_per_second`.',
        },
        max_parents: {
          type: 'integer',
          minimum: 1,
          default: defaultMaxParents,
          description: 'Maximum number of parents. If there are more, the run fails.',
        },
      },
    },
    {
      about:
        'Repeats the query for each value of a list, each record of another path, or each row of another job (a parent). Use `{{ parent.NAME }}` in the request. The result has the records of all parents, in their order.',
      example: { path: '/accounts', records: 'data' },
    },
  ),
  parent_columns: option.map<string>(text, {
    about: 'Values of the parent to add as the first columns, by column name.',
    example: { account_id: 'id' },
  }),
};
