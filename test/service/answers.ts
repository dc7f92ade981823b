import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { collectResources } from '../../src/service/collect.ts';
import type { Endpoint } from '../../src/service/endpoint.ts';
import { prefixes } from '../../src/service/http/prefixes.ts';
import { envelopeSchema, errorEnvelope } from '../../src/service/openapi/envelopes.ts';
import { type OpenApiSchema, plainSchema } from '../../src/service/openapi/schemas.ts';

/** The response to a test's call. */
interface Answered {
  readonly method: string;
  /** With or without a prefix. */
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

interface Declared {
  readonly endpoint: Endpoint;
  readonly pattern: RegExp;
  readonly faults: (value: unknown) => string[];
}

const refused = checker(closed(errorEnvelope));
const declared: readonly Declared[] = (await collectResources())
  .flatMap((resource) => resource.endpoints)
  .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)
  .map((endpoint) => ({ endpoint, pattern: patternOf(endpoint.path), faults: checkerOf(endpoint) }));

/** How a response differs from what its endpoint declares; empty if it doesn't. */
export function answerFaults({ method, path, status, text }: Answered): string[] {
  if (method === 'HEAD' || (method === 'OPTIONS' && status === 204)) return [];
  if (status >= 400) return faultsIn(text, refused, status);
  const place = bare(path);
  const found = declared.find(({ endpoint, pattern }) => endpoint.method === method && pattern.test(place));
  if (found === undefined) return ['it worked, and no endpoint is declared there'];
  const { answer } = found.endpoint;
  const wrong = status === answer.status ? [] : [`its status is ${status}, declared is ${answer.status}`];
  return answer.data === 'bytes' ? wrong : [...wrong, ...faultsIn(text, found.faults, status)];
}

function faultsIn(text: string, faults: (value: unknown) => string[], status: number): string[] {
  try {
    const value = JSON.parse(text) as { meta?: { success?: boolean; status?: number } };
    const isHonest = value.meta?.status === status && value.meta.success === status < 400;
    const honest = isHonest ? [] : ['meta does not match the status'];
    return [...honest, ...faults(value)];
  } catch {
    return ['it is not JSON'];
  }
}

function bare(path: string): string {
  const [place = ''] = path.split('?', 1);
  const prefix = prefixes.find((one) => place.startsWith(`${one}/`)) ?? '';
  return place.slice(prefix.length).replace(/(?<=.)\/$/, '');
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/[.@]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function checkerOf({ answer, query }: Endpoint): (value: unknown) => string[] {
  if (answer.data === 'bytes') return () => [];
  const { status, meta } = answer;
  return checker(closed(envelopeSchema({ status, data: plainSchema(answer.data), isList: 'limit' in query, meta })));
}

function checker(schema: OpenApiSchema): (value: unknown) => string[] {
  const compiled = Compile(schema as TSchema);
  return (value) =>
    compiled.Check(value) ? [] : [...compiled.Errors(value)].map((one) => `${one.instancePath}: ${one.message}`);
}

/** The same schema, except that objects may have only the declared fields unless they say otherwise. */
function closed(schema: OpenApiSchema): OpenApiSchema {
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(closed) }),
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, closed(inner)])),
          additionalProperties: schema.additionalProperties ?? false,
        }),
  };
}
