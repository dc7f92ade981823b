import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { SMTPServerOptions } from 'smtp-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Post, Surroundings } from '../../src/alerts/channel.ts';
import { composeBulletin } from '../../src/alerts/compose.ts';
import { sendTo } from '../../src/alerts/send-to.ts';
import type { AlertChannel } from '../../src/config/alerts.ts';
import { networkWords } from '../../src/lib/network.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';
import { until } from '../journey/process.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { openMailServer } from './mail-server.ts';
import { isSigned, openReceiver, secret } from './receiver.ts';

const now = Date.UTC(2026, 10, 21, 8, 4, 12);

async function around(signal = new AbortController().signal): Promise<Surroundings> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-alerts-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { signal, now, folder };
}

function postOf(what = 'connection refused'): Post {
  const mention = { subject: 'job:orders', level: 1, since: now - 60_000, what, code: 'DB_UNREACHABLE' };
  const event = composeBulletin(
    { occasion: 'failed', kind: 'opened', to: ['ops'], fresh: [mention], open: [mention], recovered: [] },
    { now, file: '/etc/sluice.yaml', detailOf: () => ({ shows_as_of: now - 3_600_000, fix: 'sluice sync orders' }) },
  );
  return { id: event.data.id, event, body: JSON.stringify(event) };
}

const webhook = (url: string): AlertChannel => ({ name: 'ops', type: 'webhook', url, secret, timeoutMs: 60_000 });
const slack = (url: string): AlertChannel => ({ name: 'chat', type: 'slack', url, timeoutMs: 60_000 });
const teams = (url: string): AlertChannel => ({ name: 'team', type: 'teams', url, timeoutMs: 60_000 });
const command = (...argv: string[]): AlertChannel => ({
  name: 'pager',
  type: 'command',
  command: argv,
  timeoutMs: 60_000,
});

type Email = Extract<AlertChannel, { type: 'email' }>;
const email = (server: string, more: Partial<Email> = {}): AlertChannel => ({
  name: 'mail',
  type: 'email',
  server,
  user: undefined,
  password: undefined,
  from: 'Sluice <sluice@test.example>',
  to: ['me@test.example', 'you@test.example'],
  tls: 'when offered',
  timeoutMs: 60_000,
  ...more,
});

interface Message {
  readonly attachments: readonly {
    readonly content: { readonly body: readonly { readonly inlines: readonly { readonly text: string }[] }[] };
  }[];
}

describe('a webhook', () => {
  it('receives the stored event at its exact URL, with a signature over ID, time and body', async () => {
    const receiver = await openReceiver();
    const post = postOf();
    expect(await sendTo(webhook(receiver.url), post, await around())).toEqual({
      ok: true,
      message: 'HTTP 200: thanks',
    });
    const [got] = receiver.got;
    expect(got).toMatchObject({ method: 'POST', path: '/alerts?for=me', text: post.body });
    expect(got?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': post.id,
      'webhook-timestamp': String(now / 1000),
    });
    expect(isSigned(got!)).toBe(true);
    expect(isSigned(got!, `whsec_${Buffer.alloc(32, 8).toString('base64')}`)).toBe(false);
    expect(isSigned({ ...got!, headers: { ...got!.headers, 'webhook-timestamp': '1' } })).toBe(false);
  });

  it('reports the response to a rejected request, and how long to wait before a retry', async () => {
    const receiver = await openReceiver();
    receiver.answer(429, { 'retry-after': '120' });
    expect(await sendTo(webhook(receiver.url), postOf(), await around())).toEqual({
      ok: false,
      message: 'HTTP 429: not now',
      retryAfterMs: 120_000,
    });
    receiver.answer(302, { location: receiver.url });
    expect(await sendTo(webhook(receiver.url), postOf(), await around())).toMatchObject({ ok: false });
    expect(receiver.got).toHaveLength(2);
  });

  it('reports a refused connection and a timeout', async () => {
    const receiver = await openReceiver();
    const gone = webhook('http://127.0.0.1:1/');
    expect(await sendTo(gone, postOf(), await around())).toEqual({
      ok: false,
      message: `could not be reached: ${networkWords.ECONNREFUSED}`,
    });
    receiver.fallSilent();
    const silent = { ...webhook(receiver.url), timeoutMs: 1_000 } as AlertChannel;
    expect(await sendTo(silent, postOf(), await around())).toMatchObject({ ok: false });
  });
});

describe('the signature check in docs/alerts.md', () => {
  it('accepts our requests and rejects forged ones', async () => {
    const page = await readFile(new URL('../../docs/alerts.md', import.meta.url), 'utf8');
    const code = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const { folder } = await around();
    await writeFile(join(folder, 'verify.mjs'), code);
    const { isFromSluice } = (await import(join(folder, 'verify.mjs'))) as {
      isFromSluice(headers: object, body: string, secret: string): boolean;
    };
    const receiver = await openReceiver();
    await sendTo(webhook(receiver.url), postOf(), { ...(await around()), now: Date.now() });
    const { headers, text } = receiver.got[0]!;
    expect(isFromSluice(headers, text, secret)).toBe(true);
    expect(isFromSluice(headers, `${text} `, secret)).toBe(false);
    expect(isFromSluice({ ...headers, 'webhook-timestamp': '1' }, text, secret)).toBe(false);
  });
});

describe('a Slack channel', () => {
  it("gets text that Slack doesn't interpret as markup", async () => {
    const receiver = await openReceiver();
    await sendTo(slack(receiver.url), postOf('<!channel> & ```fence```'), await around());
    const { text } = JSON.parse(receiver.got[0]!.text) as { text: string };
    expect(text).toMatch(
      /^\*Sluice: orders failed\*\n```\nwhat {6}&lt;!channel&gt; &amp; '''fence''' \[DB_UNREACHABLE\]/,
    );
    expect(text).toContain('fix       sluice sync orders');
  });
});

describe('a Teams channel', () => {
  it('gets an Adaptive Card whose lines are shown as they are', async () => {
    const receiver = await openReceiver();
    const sent = await sendTo(teams(receiver.url), postOf('**bold** [link](http://x) <b>'), await around());
    expect(sent).toEqual({ ok: true, message: 'HTTP 200: thanks' });
    expect(receiver.got[0]?.headers['content-type']).toBe('application/json; charset=utf-8');
    const message = JSON.parse(receiver.got[0]!.text) as Message;
    expect(message).toMatchObject({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: { type: 'AdaptiveCard' } }],
    });
    const [title, ...lines] = message.attachments[0]!.content.body.map(({ inlines }) => inlines[0]!);
    expect(title).toMatchObject({ text: 'Sluice: orders failed', color: 'Attention' });
    expect(lines[0]).toMatchObject({ text: 'what      **bold** [link](http://x) <b> [DB_UNREACHABLE]' });
    expect(lines.map(({ text }) => text)).toContain('fix       sluice sync orders');
  });

  it('has failed if the response says so, even with status 200', async () => {
    const receiver = await openReceiver();
    const answer = 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429';
    receiver.answer(200, {}, answer);
    const sent = await sendTo(teams(receiver.url), postOf(), await around());
    expect(sent).toEqual({ ok: false, message: `HTTP 200: ${answer}` });
  });
});

describe('an e-mail', () => {
  it('is delivered to all recipients, marked as automatic', async () => {
    const server = await openMailServer();
    const post = postOf('naïve – 1 000 €');
    const sent = await sendTo(email(`smtp://127.0.0.1:${server.port}`), post, await around());
    expect(sent).toMatchObject({ ok: true, message: '250 kept' });
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'sluice@test.example', to: ['me@test.example', 'you@test.example'] });
    expect(mail?.text).toMatch(/^Subject: Sluice: orders failed\r$/m);
    expect(mail?.text).toMatch(new RegExp(`^Message-ID: <${post.id}@sluice>\\r$`, 'm'));
    expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(mail?.text).toContain('sluice sync orders');
  });

  it('is sent with a login over TLS, and only to a server whose certificate is trusted', async () => {
    const { ca, key, cert } = await makeCertificates(['DNS:localhost']);
    const logins: string[] = [];
    const onAuth: SMTPServerOptions['onAuth'] = ({ username, password }, _, done) => {
      logins.push(`${username}:${password}`);
      done(null, { user: String(username) });
    };
    const [starting, secure] = [
      await openMailServer({ key, cert, onAuth }),
      await openMailServer({ key, cert, onAuth, secure: true }),
    ];
    const login = { user: 'sluice', password: 'hunter22', tls: 'required' } as const;
    const ways = [`smtp://localhost:${starting.port}`, `smtps://localhost:${secure.port}`];
    for (const server of ways) {
      expect(await sendTo(email(server, login), postOf(), await around())).toMatchObject({ ok: false });
    }
    expect(logins).toEqual([]);
    const trusted = getCACertificates();
    onTestFinished(() => setDefaultCACertificates(trusted));
    setDefaultCACertificates([...trusted, ca]);
    for (const server of ways) {
      expect(await sendTo(email(server, login), postOf(), await around())).toMatchObject({ ok: true });
    }
    expect(logins).toEqual(['sluice:hunter22', 'sluice:hunter22']);
    for (const { mails } of [starting, secure]) expect(mails).toMatchObject([{ secure: true, user: 'sluice' }]);
  });

  it('is never sent with an unencrypted password, no matter what is configured', async () => {
    const logins: string[] = [];
    const server = await openMailServer({
      allowInsecureAuth: true,
      onAuth: ({ username }, _, done) => {
        logins.push(String(username));
        done(null, { user: String(username) });
      },
    });
    const login = { user: 'sluice', password: 'hunter22' };
    const sent = await sendTo(email(`smtp://127.0.0.1:${server.port}`, login), postOf(), await around());
    expect(sent).toMatchObject({ ok: false });
    expect([logins, server.mails]).toEqual([[], []]);
  });

  it("isn't sent over an unencrypted connection unless the config allows it", async () => {
    const server = await openMailServer();
    const sent = await sendTo(email(`smtp://127.0.0.1:${server.port}`, { tls: 'required' }), postOf(), await around());
    expect(sent).toMatchObject({ ok: false, message: expect.stringMatching(/TLS/i) });
    expect(server.mails).toEqual([]);
  });

  it.each([
    ['smtp://127.0.0.1', 587],
    ['smtps://127.0.0.1', 465],
    ['smtp://127.0.0.1:2525', 2525],
  ])("is sent to the URL's port or, by default, to its scheme's port: %s", async (server, port) => {
    const connect = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
      return this.destroy(new Error('the test connects to no server'));
    });
    onTestFinished(() => connect.mockRestore());
    await sendTo(email(server), postOf(), await around());
    expect(connect.mock.calls.flat(2)).toContainEqual(expect.objectContaining({ port }));
  });

  it("fails with the server's error message, or with a timeout if the server doesn't respond", async () => {
    const server = await openMailServer({ onRcptTo: (_, __, done) => done(new Error('no such mailbox')) });
    const sent = await sendTo(email(`smtp://127.0.0.1:${server.port}`), postOf(), await around());
    expect(sent).toMatchObject({ ok: false, message: expect.stringContaining('no such mailbox') });
    const gone = email('smtp://127.0.0.1:1');
    expect(await sendTo(gone, postOf(), await around())).toEqual({
      ok: false,
      message: `could not be reached: ${networkWords.ECONNREFUSED}`,
    });
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as { port: number };
    const hung = email(`smtp://127.0.0.1:${port}`, { timeoutMs: 1_000 });
    expect(await sendTo(hung, postOf(), await around())).toMatchObject({ ok: false });
  });
});

describe('a command', () => {
  it('runs without a shell, with the event on its standard input and in its environment', async () => {
    const surroundings = await around();
    const program = join(surroundings.folder, 'page');
    await writeFile(
      program,
      '#!/bin/sh\ncat > got.json; printf "%s|%s|%s" "$SLUICE_ALERT_TYPE" "$SLUICE_ALERT_TITLE" "$1" > env.txt\n',
    );
    await chmod(program, 0o700);
    const post = postOf();
    expect(await sendTo(command('./page', '$(touch pwned) ; *'), post, surroundings)).toEqual({
      ok: true,
      message: 'ended with 0',
    });
    expect(await readFile(join(surroundings.folder, 'got.json'), 'utf8')).toBe(post.body);
    expect(await readFile(join(surroundings.folder, 'env.txt'), 'utf8')).toBe(
      'alert.opened|orders failed|$(touch pwned) ; *',
    );
    expect(existsSync(join(surroundings.folder, 'pwned'))).toBe(false);
  });

  it("reports its exit status and output, or that the program doesn't exist", async () => {
    const failed = await sendTo(command('/bin/sh', '-c', 'echo no pager >&2; exit 3'), postOf(), await around());
    expect(failed).toEqual({ ok: false, message: 'the program ended with 3: no pager' });
    expect(await sendTo(command('./not-there'), postOf(), await around())).toMatchObject({
      ok: false,
      message: expect.stringContaining('could not be run'),
    });
  });

  it('leaks no part of a secret, even if its output is truncated in the middle of one', async () => {
    registerSecret('0123456789abcdefghijABCDEFGHIJ');
    for (const blanks of [16_370, 16_378]) {
      const print = `process.stderr.write(' '.repeat(${blanks}) + '0123456789abcdefghijABCDEFGHIJ')`;
      const told = await sendTo(command(process.execPath, '-e', print), postOf(), await around());
      expect(told).toEqual({ ok: true, message: 'ended with 0: [redacted]' });
    }
    forgetSecrets();
  });

  it('is killed, with its child processes, if it takes too long or Sluice stops', async () => {
    const surroundings = await around();
    const begun = join(surroundings.folder, 'child');
    // On an overloaded machine, the program may time out before it has started.
    for (let seconds = 1; !existsSync(begun); seconds *= 2) {
      const slow = command('/bin/sh', '-c', 'sleep 1000 & echo $! > new; mv new child; wait');
      expect(await sendTo({ ...slow, timeoutMs: seconds * 1000 } as AlertChannel, postOf(), surroundings)).toEqual({
        ok: false,
        message: `the program took longer than ${seconds} s`,
      });
    }
    const child = Number(await readFile(begun, 'utf8'));
    await until("the command's child process to end", () => !isAlive(child));
    const stop = new AbortController();
    const stopped = sendTo(command('/bin/sh', '-c', 'echo > begun; sleep 1000'), postOf(), {
      ...surroundings,
      signal: stop.signal,
    });
    await until('the command to start', () => existsSync(join(surroundings.folder, 'begun')));
    stop.abort();
    expect(await stopped).toMatchObject({ ok: false });
  });
});

/** A zombie is dead; its parent just hasn't noticed yet. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
