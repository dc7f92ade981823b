/** A person with a browser, played by plain requests: logs in, agrees, is sent back. */

/** Walks the provider's pages; resolves to the address that the browser is sent back to, without opening it. */
export async function agree(url: string, back: string): Promise<string> {
  const jar = new Map<string, string>();
  let at = url;
  for (let hops = 0; hops < 12; hops++) {
    const page = await visit(at, jar);
    if (page.to?.startsWith(back)) return page.to;
    if (page.to !== undefined) {
      at = page.to;
      continue;
    }
    const action = /action="([^"]+)"/.exec(page.html)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(page.html)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`no form to send: ${page.html.slice(0, 400)}`);
    const fields = prompt === 'login' ? { prompt, login: 'alice', password: 'x' } : { prompt };
    const next = await visit(new URL(action, at).href, jar, new URLSearchParams(fields));
    at = next.to ?? at;
  }
  throw new Error('the pages never ended');
}

async function visit(url: string, jar: Map<string, string>, body?: URLSearchParams) {
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
