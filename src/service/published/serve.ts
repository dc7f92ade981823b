import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml as escaped } from '../../lib/html.ts';
import { redact } from '../../lib/redact.ts';
import { verifyPassword } from '../auth/passwords.ts';
import { isClosed } from '../client-status.ts';
import type { ServiceContext } from '../context.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import type { RunningRequests } from '../http/running-requests.ts';
import { accountById } from '../store/accounts.ts';
import { featuresOff } from '../store/clients.ts';
import { type KlipInstance, klipInstancesOf } from '../store/klip-instances.ts';
import { countView, linkById, type PublishedLink } from '../store/published-links.ts';
import { type Tab, tabById } from '../store/tabs.ts';

interface Serving {
  readonly context: ServiceContext;
  /** The service waits for these requests before it closes. */
  readonly running: RunningRequests;
}

/**
 * Serves published links. They require no account and don't count towards any company's limits. If a link has a
 * password, a viewer sends it as Basic credentials with any user name, or as `password` in the query. The URL's last
 * path segment only makes the URL readable. Links are found by ID, so a URL stays valid after the link is renamed.
 */
export function servePublished(app: FastifyInstance, { context, running }: Serving): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/published/:id/:slug',
    handler: (request, reply) => {
      running.add(show(context, request, reply), request.raw.socket);
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

async function show(context: ServiceContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers(headers);
  try {
    const { id } = request.params as { id: string };
    await checkPassword(context, request, findPublished(context, id).link);
    // Look up the link again, because it may have been deleted while its password was being verified.
    const { link, tab } = findPublished(context, id);
    if (request.method === 'GET') count(context, link, tab);
    const text = publishedHtml(link, tab, klipInstancesOf(context.db, tab.id));
    void reply.headers(link.isPublic === 1 ? {} : { 'x-robots-tag': 'noindex' }).send(text);
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : failure(context, thrown);
    void reply.code(error.status).headers(error.headers).send(errorHtml(error.message));
  }
}

function count({ db, clock }: ServiceContext, link: PublishedLink, tab: Tab): void {
  db.transaction(() => countView(db, { link, tab, now: clock.now() }));
}

function failure({ log }: ServiceContext, thrown: unknown): ApiError {
  log.error('published dashboard failed', { error: redact(String((thrown as Error)?.stack ?? thrown)) });
  return new ApiError('internal_error', 'Internal error');
}

/** Returns the link and its tab. Throws 404 if the account is closed or may not publish. */
function findPublished({ db, clock }: ServiceContext, id: string): { link: PublishedLink; tab: Tab } {
  const link = linkById(db, id);
  const tab = link && tabById(db, link.tabId);
  const account = tab && accountById(db, tab.accountId);
  if (link === undefined || tab === undefined || account === undefined) throw nowhere();
  const off = featuresOff(db, account.id);
  if (off.has('published_dashboards') || (link.isPublic === 1 && off.has('public_dashboards'))) throw nowhere();
  if (isClosed(account, clock.now())) throw nowhere();
  return { link, tab };
}

function nowhere(): ApiError {
  return notFound('Dashboard not found');
}

/**
 * Checks the password that the viewer sent. A wrong password counts as a failed login from the client's address, so
 * that passwords can't be guessed.
 */
async function checkPassword({ limits }: ServiceContext, request: FastifyRequest, link: PublishedLink): Promise<void> {
  if (link.password === null) return;
  const given = passwordIn(request);
  if (given === undefined) throw wanted('This dashboard requires a password');
  const forgive = limits.countFailure(request.socket.remoteAddress ?? 'unknown');
  if (!(await verifyPassword(given, link.password))) throw wanted('Wrong password');
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

function wanted(text: string): ApiError {
  return new ApiError('auth_fail', text, { 'www-authenticate': 'Basic realm="dashboard", charset="UTF-8"' });
}

/**
 * Renders a dashboard for viewers without an account. The page shows the names of the dashboard and its Klips, but not
 * the Klips' definitions.
 */
function publishedHtml(link: PublishedLink, tab: Tab, instances: readonly KlipInstance[]): string {
  const klips = instances.map(({ name }) => `<li>${escaped(name)}</li>`).join('');
  const share = `<p><a href="mailto:?subject=${escaped(encodeURIComponent(tab.name))}">Share by e-mail</a></p>`;
  return html(
    link.theme,
    tab.name,
    [
      link.logo === '' ? '' : `<img src="${escaped(link.logo)}" alt="">`,
      `<h1>${escaped(tab.name)}</h1>`,
      tab.description === '' ? '' : `<p>${escaped(tab.description)}</p>`,
      `<ol>${klips}</ol>`,
      link.social === 1 ? share : '',
      link.wantsAdvertising === 1 ? '<footer>Published with Sluice</footer>' : '',
    ].join(''),
  );
}

/** Renders an error page for a published dashboard. */
function errorHtml(text: string): string {
  return html('light', text, `<h1>${escaped(text)}</h1>`);
}

function html(theme: 'light' | 'dark', title: string, body: string): string {
  const head = `<meta charset="utf-8"><meta name="color-scheme" content="${theme}"><title>${escaped(title)}</title>`;
  return `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`;
}
