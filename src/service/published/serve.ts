import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { verifyPassword } from '../auth/passwords.ts';
import { notFound, Refusal } from '../http/refusal.ts';
import type { Parts } from '../parts.ts';
import { klipInstancesOf } from '../store/klip-instances.ts';
import { countView, linkById, type PublishedLink } from '../store/published-links.ts';
import { tabById } from '../store/tabs.ts';
import { publishedHtml, refusalHtml } from './page.ts';

interface Serving {
  readonly parts: Parts;
  /** What the service waits for before it closes. */
  readonly running: Set<Promise<void>>;
}

/**
 * The address that a published link gives: no account is needed, no company's limits are touched. A password comes as
 * the one of Basic credentials, whoever they name, or as `password` in the query. The last segment is for readers; the
 * id decides, so that an address lives on when the link is renamed.
 */
export function servePublished(app: FastifyInstance, { parts, running }: Serving): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/published/:id/:slug',
    handler: async (request, reply) => {
      const one = show(parts, request, reply);
      running.add(one);
      await one.finally(() => running.delete(one));
      return reply;
    },
  });
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; img-src http: https:; frame-ancestors *; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

async function show(parts: Parts, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers(headers);
  try {
    const { id } = request.params as { id: string };
    await checkPassword(parts, request, findLink(parts, id));
    const link = findLink(parts, id);
    const tab = tabById(parts.db, link.tabId)!;
    if (request.method === 'GET')
      parts.db.transaction(() => countView(parts.db, { link, tab, now: parts.clock.now() }));
    const text = publishedHtml(link, tab, klipInstancesOf(parts.db, tab.id));
    void reply.headers(link.isPublic === 1 ? {} : { 'x-robots-tag': 'noindex' }).send(text);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    void reply.code(thrown.status).headers(thrown.headers).send(refusalHtml(thrown.message));
  }
}

function findLink({ db }: Parts, id: string): PublishedLink {
  const link = linkById(db, id);
  if (link === undefined) throw notFound('There is no dashboard at this address');
  return link;
}

/** A password can be guessed: wrong ones count as failed authentication of the address that they come from. */
async function checkPassword({ limits }: Parts, request: FastifyRequest, link: PublishedLink): Promise<void> {
  if (link.password === null) return;
  const given = passwordIn(request);
  if (given === undefined) throw wanted('This dashboard asks for a password');
  const forgive = limits.countFailure(request.socket.remoteAddress ?? 'unknown');
  if (!(await verifyPassword(given, link.password))) throw wanted('The password is not right');
  forgive();
}

function passwordIn({ headers, query }: FastifyRequest): string | undefined {
  const basic = /^basic\s+(\S+)\s*$/i.exec(headers.authorization ?? '')?.[1];
  if (basic !== undefined)
    return Buffer.from(basic, 'base64')
      .toString('utf8')
      .replace(/^[^:]*:/, '');
  const { password } = query as { password?: unknown };
  return typeof password === 'string' ? password : undefined;
}

function wanted(text: string): Refusal {
  return new Refusal('auth_fail', text, { 'www-authenticate': 'Basic realm="dashboard", charset="UTF-8"' });
}
