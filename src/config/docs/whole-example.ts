import { isMap, parseDocument } from 'yaml';
import type { Connector } from '../../sdk/connector.ts';

/**
 * Returns a connector's example config with everything that its jobs need to run: a format and a data source that the
 * config declares.
 */
export function wholeExample({ example }: Pick<Connector, 'example'>): string | undefined {
  if (example === undefined) return undefined;
  const document = parseDocument(example);
  const jobs = document.get('jobs');
  if (!isMap(jobs)) return example.trim();
  for (const { key, value } of jobs.items) {
    if (!isMap(value)) continue;
    if (!value.has('format')) value.set('format', 'csv');
    if (!value.has('target')) {
      const target = document.createNode({ datasource: { name: String(key) } }, { flow: true });
      value.set('target', target);
    }
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false }).trim();
}
