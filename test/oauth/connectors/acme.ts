import { batchOf, defineConnector, option, Problem, type Token, type TokenSource } from 'sluice/sdk';

const columns = [{ name: 'id', type: 'integer' }] as const;

/** The tests' vendor: a page of rows that requires a login. A refused token is reported once. */
export default defineConnector({
  id: 'acme',
  title: 'Acme',
  summary: 'Rows behind a login.',
  source: {
    url: option.text({ required: true, about: 'Its address.' }),
    refresh: option.choice(['rotating', 'static', 'none'], { about: 'How it renews.', default: 'rotating' }),
    codes: option.boolean({ about: 'Whether it has codes for other machines.', default: true }),
    pages: option.integer({ about: 'How many pages are asked for.', default: 1 }),
    pause_ms: option.integer({ about: 'Between two of them.', default: 0 }),
  },
  query: {},
  oauth: ({ refresh, codes }) => ({
    grants: ['authorization_code', 'client_credentials'],
    authorize_url: '{url}/auth',
    token_url: '{url}/token',
    revoke_url: '{url}/token/revocation',
    ...(codes ? { device: { url: '{url}/device/auth' } } : {}),
    pkce: true,
    scopes: ['openid', 'offline_access'],
    authorize_parameters: { prompt: 'consent' },
    refresh,
  }),
  async check({ source, login }) {
    return `${(await pageOf(source.url, login!)).length} rows`;
  },
  async extract({ source, login }) {
    async function* batches() {
      for (let page = 0; page < source.pages; page++) {
        if (page > 0) await new Promise((done) => setTimeout(done, source.pause_ms));
        const rows = await pageOf(source.url, login!);
        yield batchOf(
          columns,
          rows.map(({ id }) => [id]),
        );
      }
    }
    return { columns, batches: batches() };
  },
});

async function pageOf(url: string, login: TokenSource): Promise<readonly { id: number }[]> {
  const token = await login.token();
  const first = await ask(url, token);
  if (first.ok) return (await first.json()) as { id: number }[];
  await login.refused(token);
  const second = await ask(url, await login.token());
  if (second.ok) return (await second.json()) as { id: number }[];
  throw new Problem({ code: 'ACME_REFUSED', family: 'login', message: 'Acme refuses a fresh token' });
}

function ask(url: string, { access_token }: Token): Promise<Response> {
  return fetch(`${url}/rows`, { headers: { authorization: `Bearer ${access_token}` } });
}
