import type { Operation } from './operation.ts';
import type { OpenApiSchema } from './schemas.ts';

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** The URL path of the API version, which precedes the endpoint's path. */
  readonly base: string;
}

/** Returns a curl command that calls an endpoint. The command uses the variables $KEY and $HOST. */
export function curlOf({ method, path, operation, base }: Shown): string {
  const required = operation.parameters.filter((one) => one.in === 'query' && one.required);
  const query = required
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema)))}`)
    .join('&');
  const place = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => `$${name.toUpperCase()}`);
  const url = `"$HOST${base}${place}${query === '' ? '' : `?${query}`}"`;
  const verb = method === 'GET' ? '' : ` -X ${method}`;
  return `curl${verb} -H "kf-api-key: $KEY"${bodyOf(operation)} ${url}`;
}

function bodyOf({ requestBody }: Operation): string {
  if (requestBody === undefined) return '';
  const { schema } = Object.values(requestBody.content)[0]!;
  if (schema.format === 'binary') return ' --data-binary @data.csv';
  const example = exampleOf({ ...schema, required: shownFields(schema) });
  return Object.keys(example as object).length === 0 ? '' : ` -d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`;
}

/**
 * Returns the names of the required fields. If none is required, returns the first field, as an example of a change.
 */
function shownFields({ required = [], properties = {} }: OpenApiSchema): readonly string[] {
  return required.length > 0
    ? required
    : Object.keys(properties)
        .filter((name) => name !== 'client_id')
        .slice(0, 1);
}

/** Returns the simplest value that the schema allows. */
function exampleOf(schema: OpenApiSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return exampleOf(schema.anyOf[0]!);
  const type = typeof schema.type === 'object' ? schema.type[0] : schema.type;
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  if (type === 'array') return [exampleOf(schema.items ?? {})];
  if (type !== 'object') return 'text';
  const fields = schema.required ?? [];
  return Object.fromEntries(fields.map((name) => [name, exampleOf(schema.properties?.[name] ?? {})]));
}
