import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { newId } from '../../lib/ids.ts';
import type { Resource } from '../endpoint.ts';
import { type OpenApi, openApiOf } from '../openapi/document.ts';
import { loadExamples } from '../openapi/examples.ts';
import { docsHtml } from '../openapi/page.ts';
import { asOpenApi30 } from '../openapi/version-3.0.ts';
import { notFound } from './api-error.ts';
import { errorBody } from './envelope.ts';
import { namesEtag } from './etag.ts';
import { prefixes } from './prefixes.ts';
import { publicUrlOf } from './public-url.ts';

interface Page {
  readonly type: string;
  /** The text, split at each place where the service's URL belongs. */
  readonly pieces: readonly string[];
  readonly textHash: string;
  /** Content security policy that forbids loading resources from other origins. */
  readonly policy: string;
}

interface PagesOptions {
  readonly resources: readonly Resource[];
  readonly publicUrl: string | undefined;
}

/** A placeholder for the service's URL in texts that are generated once and served under several hosts. */
const anyUrl = 'http://service.invalid';

/**
 * Serves the pages that need no credentials: the OpenAPI document and an HTML page generated from it. Both describe the
 * API and contain no customer data. They're generated on first use, to keep startup fast.
 */
export function servePages(app: FastifyInstance, { resources, publicUrl }: PagesOptions): void {
  const document = once(async () => openApiOf(resources, { url: anyUrl, examples: await loadExamples() }));
  const json = 'application/json; charset=utf-8';
  const pages = {
    '/openapi.json': once(async () => page(json, JSON.stringify(await document()))),
    '/openapi-3.0.json': once(async () => page(json, JSON.stringify(asOpenApi30(await document())))),
  };
  for (const prefix of ['', ...prefixes]) {
    for (const [path, make] of Object.entries(pages)) serve(app, prefix + path, { make, publicUrl });
  }
  serve(app, '/docs', { make: once(async () => docsPage(openApiOf(resources, { url: '' }))), publicUrl });
  // Browsers ask for an icon without credentials, which must not count as a failed login.
  app.route({
    method: ['GET', 'HEAD'],
    url: '/favicon.ico',
    handler: (_request, reply) =>
      reply
        .code(404)
        .type('application/json; charset=utf-8')
        .send(errorBody(notFound('There is no icon'), newId())),
  });
}

interface Served {
  readonly make: () => Promise<Page>;
  readonly publicUrl: string | undefined;
}

function serve(app: FastifyInstance, path: string, { make, publicUrl }: Served): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: path,
    handler: async (request, reply) => {
      const { type, pieces, textHash, policy } = await make();
      const url = publicUrlOf(request.raw, publicUrl);
      const etag = pieces.length === 1 ? `"${textHash}"` : `"${textHash}-${digest(url)}"`;
      reply.headers({
        'content-type': type,
        etag,
        'cache-control': 'no-cache',
        vary: 'host',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      });
      return namesEtag(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.send(pieces.join(url));
    },
  });
}

function docsPage(document: OpenApi): Page {
  const { html, style, script } = docsHtml(document);
  const allowed = `default-src 'none'; style-src '${hash(style)}'; script-src '${hash(script)}'; frame-ancestors 'none'`;
  return page('text/html; charset=utf-8', html, `${allowed}; base-uri 'none'; form-action 'none'`);
}

function page(type: string, text: string, policy = "default-src 'none'"): Page {
  return { type, pieces: text.split(anyUrl), policy, textHash: digest(text) };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function hash(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
