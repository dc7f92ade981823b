import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Resource } from '../endpoint.ts';
import { type OpenApi, openApiOf } from '../openapi/document.ts';
import { docsHtml } from '../openapi/page.ts';
import { prefixes } from './prefixes.ts';

interface Page {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
  /** Content security policy that forbids loading resources from other origins. */
  readonly policy: string;
}

/**
 * Serves the pages that need no credentials: the OpenAPI document and an HTML page generated from it. Both describe the
 * API and contain no customer data. They're generated on first use, to keep startup fast.
 */
export function servePages(app: FastifyInstance, resources: readonly Resource[]): void {
  const document = once(() => openApiOf(resources));
  const json = once(() => page('application/json; charset=utf-8', JSON.stringify(document())));
  const html = once(() => docsPage(document()));
  for (const prefix of ['', ...prefixes]) serve(app, `${prefix}/openapi.json`, json);
  serve(app, '/docs', html);
}

function serve(app: FastifyInstance, path: string, make: () => Page): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: path,
    handler: (request, reply) => {
      const { type, text, etag, policy } = make();
      reply.headers({
        'content-type': type,
        etag,
        'cache-control': 'no-cache',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
      });
      return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text);
    },
  });
}

function docsPage(document: OpenApi): Page {
  const { html, style, script } = docsHtml(document);
  const allowed = `default-src 'none'; style-src '${hash(style)}'; script-src '${hash(script)}'; frame-ancestors 'none'`;
  return page('text/html; charset=utf-8', html, `${allowed}; base-uri 'none'; form-action 'none'`);
}

function page(type: string, text: string, policy = "default-src 'none'"): Page {
  return { type, text, policy, etag: `"${createHash('sha256').update(text).digest('base64url')}"` };
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
