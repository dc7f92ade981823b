import { escapeHtml as escaped } from '../../lib/html.ts';
import type { OpenApi } from './document.ts';
import { curlOf } from './example.ts';
import { inlined } from './models.ts';
import type { MediaType, Operation, OperationParameter, OperationResponse } from './operation.ts';
import { script, style } from './page-assets.ts';
import type { OpenApiSchema } from './schemas.ts';

interface Shown {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/**
 * Renders the OpenAPI document as one HTML page without external resources. Style and script are returned separately,
 * because the content security policy contains their hashes.
 */
export function docsHtml(document: OpenApi): { html: string; style: string; script: string } {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: withoutReferences(operation, document.components.schemas),
    })),
  );
  const byTag = Map.groupBy(all, ({ operation }) => operation.tags[0]!);
  const tags = document.tags.filter(({ name }) => byTag.has(name));
  const base = document.servers[0]!.url;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Dashboard service</title><style>${style}</style></head><body>
<header><h1>Dashboard service</h1>
<p>${all.length} endpoints below <code>${base}</code> (or <code>${document.servers[1]!.url}</code>). Every call requires a key in
<code>kf-api-key</code>, or Basic credentials. Machine-readable version: <a href="/openapi.json">openapi.json</a>.</p>
<input id="filter" type="search" placeholder="Filter by path, permission or field" aria-label="Filter"></header>
<div class="columns"><nav>${tags.map(({ name }) => `<a href="#${name}">${name}<b>${byTag.get(name)!.length}</b></a>`).join('')}</nav>
<main>${tags.map((tag) => section(tag, byTag.get(tag.name)!, base)).join('')}</main></div>
<script>${script}</script></body></html>
`;
  return { html, style, script };
}

/** Replaces the references in an operation's body and responses with the models. */
function withoutReferences(operation: Operation, models: OpenApi['components']['schemas']): Operation {
  const plain = (content: Readonly<Record<string, MediaType>>) =>
    Object.fromEntries(
      Object.entries(content).map(([type, { schema }]) => [type, { schema: inlined(schema, models) }]),
    );
  const { requestBody: body, responses } = operation;
  return {
    ...operation,
    ...(body && { requestBody: { ...body, content: plain(body.content) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, one]) => [
        status,
        'content' in one ? { ...one, content: plain(one.content) } : one,
      ]),
    ),
  };
}

function section(tag: { name: string; description: string }, shown: readonly Shown[], base: string): string {
  const items = shown.map((one) => endpoint(one, base)).join('');
  return `<section id="${tag.name}"><h2>${tag.name}</h2><p>${escaped(tag.description)}</p>${items}</section>`;
}

function endpoint({ method, path, operation }: Shown, base: string): string {
  const permission = operation['x-permission'];
  const word = operation['x-every-permission'] === true ? ' and ' : ' or ';
  const needs = permission.length === 0 ? 'any caller' : permission.map((name) => `<code>${name}</code>`).join(word);
  const body = bodySchema(operation);
  return `<details id="${operation.operationId}" data-words="${escaped(wordsOf(method, path, operation))}">
<summary><span class="method ${method.toLowerCase()}">${method}</span><code class="path">${escaped(path)}</code>
<span class="what">${escaped(operation.summary)}</span></summary>
<p class="needs">Requires ${needs} · ${operation['x-basis'] === 'document' ? 'specified by the public document' : "decided by Sluice, because the document doesn't specify it"}</p>
${note('Decided by Sluice', operation['x-decided'])}${note('Not implemented', operation['x-missing'])}
${parameters(operation.parameters)}${body === undefined ? '' : fields('Body', body, { required: 'required', optional: '' })}${answer(operation)}
<h4>Example</h4><pre>${escaped(curlOf({ method, path, operation, base }))}</pre></details>`;
}

function note(title: string, text: string | undefined): string {
  return text === undefined
    ? ''
    : `<p class="needs">${title}: ${escaped(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>')}</p>`;
}

function wordsOf(method: string, path: string, operation: Operation): string {
  const names = [
    ...operation.parameters.map(({ name }) => name),
    ...Object.keys(bodySchema(operation)?.properties ?? {}),
  ];
  return [method, path, operation.summary, ...operation['x-permission'], ...names].join(' ').toLowerCase();
}

function bodySchema({ requestBody }: Operation): OpenApiSchema | undefined {
  const [schema] = Object.values(requestBody?.content ?? {}).map((media) => media.schema);
  return schema?.format === 'binary' ? { description: 'the data, stored as received' } : schema;
}

function parameters(all: readonly OperationParameter[]): string {
  const rows = all.map(({ name, in: where, required, description, schema }) =>
    row({
      name,
      note: required ? `${where}, required` : where,
      schema: { ...schema, ...(description === undefined ? {} : { description }) },
    }),
  );
  return rows.length === 0 ? '' : `<h4>Parameters</h4><table>${rows.join('')}</table>`;
}

function answer({ responses }: Operation): string {
  const [status, response] = Object.entries(responses).find(([code]) => code.startsWith('2'))!;
  const { content } = response as OperationResponse;
  const data = content['application/json']!.schema.properties!.data!;
  const note =
    Object.keys(content).length > 1
      ? 'the stored bytes; JSON in the envelope unless <code>raw</code> is set'
      : Object.keys(data.properties ?? {}).length > 0
        ? undefined
        : `<code>data</code> is empty${status === '201' ? '; <code>meta.location</code> is the path of the new asset' : ''}`;
  return note === undefined
    ? fields(`Response ${status}: data`, data, { required: '', optional: 'not always present' })
    : `<h4>Response ${status}</h4><p>${note}</p>`;
}

/** How a field is labeled if it's required and if it's optional. */
interface Notes {
  readonly required: string;
  readonly optional: string;
}

function fields(title: string, schema: OpenApiSchema, notes: Notes): string {
  const rows = rowsOf(schema, '', notes);
  const text = schema.description === undefined ? '' : `<p>${escaped(schema.description)}</p>`;
  return `<h4>${title}</h4>${text}${rows === '' ? '' : `<table>${rows}</table>`}`;
}

/**
 * Renders one row per field. The fields of an object or list follow their parent's row, and their names include the
 * parent's path.
 */
function rowsOf(schema: OpenApiSchema, way: string, notes: Notes): string {
  return Object.entries(schema.properties ?? {})
    .map(([name, inner]) => {
      const note = schema.required?.includes(name) === true ? notes.required : notes.optional;
      const own = row({ name: way + name, note, schema: inner });
      return own + rowsOf(inner, `${way}${name}.`, notes) + rowsOf(inner.items ?? {}, `${way}${name}[].`, notes);
    })
    .join('');
}

function row({ name, note, schema }: { name: string; note: string; schema: OpenApiSchema }): string {
  const fallback = schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`;
  const words = [schema.description ?? '', fallback].filter((part) => part !== '').join('; ');
  return `<tr><td><code>${escaped(name)}</code></td><td>${escaped(typeOf(schema))}</td>
<td>${note === '' ? '' : `<em>${note}</em> `}${escaped(words)}</td></tr>`;
}

function typeOf(schema: OpenApiSchema): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  const [type = 'any', ...others] = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return [schema.format === 'date-time' ? 'time' : type, ...others].join(' or ');
}
