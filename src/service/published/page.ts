import { escapeHtml as escaped } from '../../lib/html.ts';
import type { KlipInstance } from '../store/klip-instances.ts';
import type { PublishedLink } from '../store/published-links.ts';
import type { Tab } from '../store/tabs.ts';

/** The HTML of a dashboard for viewers without an account: its name and its Klips' names, without their definitions. */
export function publishedHtml(link: PublishedLink, tab: Tab, instances: readonly KlipInstance[]): string {
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

/** An error page for a published dashboard. */
export function errorHtml(text: string): string {
  return html('light', text, `<h1>${escaped(text)}</h1>`);
}

function html(theme: 'light' | 'dark', title: string, body: string): string {
  const head = `<meta charset="utf-8"><meta name="color-scheme" content="${theme}"><title>${escaped(title)}</title>`;
  return `<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`;
}
