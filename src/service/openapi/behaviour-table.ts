import type { Endpoint, Resource } from '../endpoint.ts';

const begin = '<!-- This table is generated from the declarations: npm run generate -->';
const end = '<!-- End of the table -->';

/**
 * Replaces a page's endpoint table with a table that is generated from the endpoints' declarations. Returns a page
 * without such a table unchanged.
 */
export function withBehaviourTable(page: string, resources: readonly Resource[]): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  return after === undefined ? page : `${before}${begin}\n${behaviourTable(resources)}${end}${after}`;
}

/**
 * Creates a Markdown table with one row per endpoint: its permission, what its behavior is based on, and what isn't
 * implemented.
 */
function behaviourTable(resources: readonly Resource[]): string {
  const head =
    '| Method and path | Permission | Document | Decided by Sluice | Not implemented |\n|---|---|---|---|---|\n';
  return head + resources.flatMap(({ endpoints }) => endpoints.map(row)).join('');
}

function row({ method, path, permission, everyPermission, basis, decided, missing = '–' }: Endpoint): string {
  const needs = permission.join(everyPermission === true ? ' and ' : ' or ') || 'none';
  const added = basis === 'document' ? (decided ?? '–') : decided === undefined ? 'all of it' : `all of it; ${decided}`;
  return `| ${method} ${path} | ${needs} | ${basis === 'document' ? 'yes' : 'no'} | ${added} | ${missing} |\n`;
}
