/** A user with a browser, simulated by plain requests: logs in, consents and is redirected back. */

/** Follows the provider's pages; resolves to the URL that the browser is redirected to, without opening it. */
export async function agree(url: string, back: string): Promise<string> {
  return walk({ jar: new Map(), at: url }, (page) => (page.to?.startsWith(back) ? page.to : undefined));
}

/** Enters a code on the provider's page, logs in and consents, or cancels when asked whether the code is right. */
export async function enterCode(address: string, code: string, choice: 'agree' | 'abort' = 'agree'): Promise<void> {
  const jar: Jar = new Map();
  const xsrf = xsrfOf(await visit(address, jar));
  await visit(address, jar, new URLSearchParams({ xsrf, user_code: code }));
  const answer = { xsrf, user_code: code, ...(choice === 'agree' ? { confirm: 'yes' } : { abort: 'yes' }) };
  const page = await visit(address, jar, new URLSearchParams(answer));
  if (choice === 'agree')
    await walk({ jar, at: page.to ?? address }, ({ html }) => html.includes('Success') || undefined);
}

type Jar = Map<string, string>;

interface Page {
  readonly html: string;
  readonly to: string | undefined;
}

/** Submits the forms of page after page until the wanted page appears. */
async function walk<T>({ jar, at: start }: { jar: Jar; at: string }, found: (page: Page) => T | undefined): Promise<T> {
  let at = start;
  for (let hops = 0; hops < 16; hops++) {
    const page = await visit(at, jar);
    const result = found(page);
    if (result !== undefined) return result;
    at = page.to ?? (await sendForm(page, at, jar));
  }
  throw new Error('the pages never ended');
}

async function sendForm({ html }: Page, at: string, jar: Jar): Promise<string> {
  const action = /action="([^"]+)"/.exec(html)?.[1];
  const prompt = /name="prompt" value="([^"]+)"/.exec(html)?.[1];
  if (action === undefined || prompt === undefined) throw new Error(`no form to send: ${html.slice(0, 400)}`);
  const fields: Record<string, string> = prompt === 'login' ? { prompt, login: 'alice', password: 'x' } : { prompt };
  const next = await visit(new URL(action, at).href, jar, new URLSearchParams(fields));
  return next.to ?? at;
}

function xsrfOf({ html }: Page): string {
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1];
  if (xsrf === undefined) throw new Error(`no form for a code: ${html.slice(0, 400)}`);
  return xsrf;
}

async function visit(url: string, jar: Jar, body?: URLSearchParams): Promise<Page> {
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const answer = await fetch(url, {
    redirect: 'manual',
    headers: { cookie },
    ...(body === undefined ? {} : { method: 'POST', body }),
  });
  for (const set of answer.headers.getSetCookie()) {
    const [pair = ''] = set.split(';');
    jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
  }
  const location = answer.headers.get('location');
  return location === null
    ? { html: await answer.text(), to: undefined }
    : { html: '', to: new URL(location, url).href };
}
