import { type Browser, chromium, type Page } from 'playwright-core';
import { request } from 'undici';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Home, makeHome } from '../journey/home.ts';
import { forSuite, until } from '../journey/process.ts';
import { adminKey, makeWorld, type World } from '../journey/world.ts';

const scope = forSuite();
const nasty = '<img src=x onerror="document.title=1">.csv';
let world: World;
let home: Home;
let url: string;
let browser: Browser;

/** A daemon with one healthy job, one whose file is missing, and one whose result is quarantined. */
beforeAll(async () => {
  world = await makeWorld({ scope });
  home = await makeHome(scope);
  await home.write('orders.csv', 'id,amount\n1,2.50\n');
  const job = (path: string, instance: string, more: object = {}) => ({
    source: 'files',
    query: { path },
    format: 'csv',
    target: { instance },
    ...more,
  });
  const { csv, json, xml } = world.instances;
  await home.config({
    version: 1,
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: job('orders.csv', csv, { schedule: '0 0 1 1 *' }),
      lost: job(nasty, json, { format: 'json' }),
      guarded: job('orders.csv', xml, { format: 'xml', guards: { rows: { minimum: 7 } } }),
    },
  });
  await home.syncHere();
  const daemon = home.start(['run', '--monitor', '127.0.0.1:0'], { scope, serves: true });
  const listening = /"url":"(?<url>http:[^"]+)"[^\n]*monitor\.listening/;
  await until('the monitor to listen', () => listening.test(daemon.output()));
  url = listening.exec(daemon.output())?.groups?.url ?? '';
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'], timeout: 0 });
  scope(() => browser.close());
});

/** A page in a real browser, and all errors that the browser reports. */
async function open(path: string, { width = 1280, dark = false } = {}): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: dark ? 'dark' : 'light' });
  // Only the test's own timeout counts: a busy machine may take minutes.
  page.setDefaultTimeout(0);
  onTestFinished(() => page.close());
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(url + path);
  return { page, complaints };
}

describe('the page with all jobs', () => {
  it('first shows what needs attention, why, and the command that fixes it', async () => {
    const { page, complaints } = await open('/');
    expect(await page.textContent('h1')).toBe('2 of 3 jobs need attention');
    const cards = await page.locator('.card.bad').allTextContents();
    expect(cards).toEqual([
      expect.stringMatching(/^lost: failing.*the file does not exist/s),
      expect.stringMatching(/^guarded: quarantined.*fewer rows.*sluice quarantine show/s),
    ]);
    expect(await page.locator('.card.bad code').allTextContents()).toEqual([
      'sluice sync lost',
      expect.stringMatching(/^sluice quarantine show \S+$/),
    ]);
    expect(await page.locator('tbody tr td:first-child').allTextContents()).toEqual(['lost', 'guarded', 'orders']);
    expect(await page.textContent('main')).toMatch(/\d of 1,?\s?000 used/);
    expect(complaints).toEqual([]);
  });

  it("links to each job's page, which shows its status, the next commands and its runs", async () => {
    const { page, complaints } = await open('/');
    await page.click('tbody a:text-is("guarded")');
    await page.waitForURL('**/jobs/guarded');
    expect(await page.textContent('h1')).toBe('guarded: quarantined');
    expect(await page.locator('code').allTextContents()).toEqual(
      expect.arrayContaining(['sluice quarantine approve guarded', 'sluice quarantine discard guarded']),
    );
    expect(await page.locator('tbody tr').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it("shows a source's message as plain text, no matter what it contains", async () => {
    const { page, complaints } = await open('/jobs/lost');
    expect(await page.textContent('main')).toContain(nasty);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toBe('lost · Sluice');
    expect(complaints).toEqual([]);
  });

  it('finds jobs by part of their name, and reports if no job matches', async () => {
    const { page } = await open('/');
    await page.fill('input[name=q]', 'ORD');
    await page.press('input[name=q]', 'Enter');
    await page.waitForURL('**/?q=ORD');
    expect(await page.locator('tbody tr td:first-child').allTextContents()).toEqual(['orders']);
    await page.fill('input[name=q]', '"><b>');
    await page.press('input[name=q]', 'Enter');
    await page.getByText('No job matches “"><b>”.').waitFor();
  });

  it.each([
    { dark: false, width: 1280 },
    { dark: true, width: 1280 },
    { dark: false, width: 390 },
    { dark: true, width: 390 },
  ])('fits its window, and its text has enough contrast: %o', async ({ dark, width }) => {
    for (const path of ['/', '/jobs/guarded']) {
      const { page } = await open(path, { dark, width });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await page.evaluate(faintest)).toBeGreaterThanOrEqual(4.5);
    }
  });
});

/** The lowest contrast between any text and its background, as defined by WCAG 2.2 (1.4.3). */
const faintest = `(() => {
  const parts = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => parts(color).slice(0, 3).map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    if (element === null) return getComputedStyle(document.documentElement).colorScheme.includes('dark') ? 'rgb(0,0,0)' : 'rgb(255,255,255)';
    const color = getComputedStyle(element).backgroundColor;
    return parts(color)[3] === 0 ? ground(element.parentElement) : color;
  };
  const told = [...document.querySelectorAll('body *')].filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''));
  return Math.min(...told.map((one) => {
    const [a, b] = [light(getComputedStyle(one).color), light(ground(one))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }));
})()`;

describe('console pages', () => {
  const status = async (path: string, headers: Record<string, string> = {}) => {
    const { statusCode, body } = await request(url + path, { headers });
    return { status: statusCode, text: await body.text() };
  };

  it('exist only for known jobs', async () => {
    expect((await status('/jobs/unknown')).status).toBe(404);
    expect((await status('/jobs/%zz')).status).toBe(404);
    expect(await status('/elsewhere')).toMatchObject({ status: 404, text: expect.stringContaining('/metrics') });
    expect((await request(url, { method: 'POST' })).statusCode).toBe(405);
  });

  it('reject public host names, which another website could resolve to this machine', async () => {
    const { port } = new URL(url);
    const under = async (host: string) => (await status('/', { host: `${host}:${port}` })).status;
    expect(await Promise.all(['rebound.example.com', 'localhost', 'sluice', '[::1]', '10.1.2.3'].map(under))).toEqual([
      421, 200, 200, 200, 200,
    ]);
  });

  it("can't load, run or embed anything", async () => {
    const { headers } = await request(url);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(headers['cache-control']).toBe('no-store');
  });
});
