import { existsSync, readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { client, startVendor } from '../oauth/vendor.ts';
import { freePort } from '../servers/free-port.ts';
import { makeHome } from './home.ts';
import { forTest, until } from './process.ts';

const connectors = new URL('../oauth/connectors/', import.meta.url).pathname;

it("login opens the user's browser for login and consent, and the last page confirms success", async () => {
  const redirect = `http://127.0.0.1:${await freePort()}/callback`;
  const vendor = await startVendor({ redirects: [redirect] });
  onTestFinished(() => vendor.close());
  const home = await makeHome(forTest);
  const login = { client_id: client.id, client_secret: client.secret, redirect_uri: redirect };
  await home.config({
    connectors,
    destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: 'k'.repeat(40) } },
    sources: { acme: { connector: 'acme', url: vendor.url, login } },
    jobs: {},
  });
  const opened = join(home.folder, 'opened');
  const program = await home.write(
    'browser.sh',
    `#!/bin/sh\nprintf %s "$1" > ${opened}.part && mv ${opened}.part ${opened}\n`,
  );
  await chmod(program, 0o755);
  const command = home.start(['login', 'acme'], { env: { BROWSER: program } });
  await until('the browser to open', () => existsSync(opened), { seen: command.output });

  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'], timeout: 0 });
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  // Only the test's own timeout counts: a busy machine may take minutes.
  page.setDefaultTimeout(0);
  await page.goto(readFileSync(opened, 'utf8'));
  await page.fill('input[name=login]', 'bob');
  await page.fill('input[name=password]', 'anything');
  const form = page.url();
  await page.click('button[type=submit]');
  // The next page has a button of the same type.
  await page.waitForURL(({ href }) => href !== form);
  await page.click('button[type=submit]');
  await page.getByText('Logged in. You may close this window.').waitFor();
  expect(page.url()).toContain(`${redirect}?code=`);

  const { code, stdout } = await command.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('Your browser was opened.');
  expect(stdout).toContain('Logged in as bob, for acme.');
});
