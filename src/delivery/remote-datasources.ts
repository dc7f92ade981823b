import { asObject } from './answer.ts';
import type { DestinationClient } from './client.ts';

/** A data source in the service's list. */
export interface RemoteDatasource {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/**
 * The URL in the properties of every data source that `apply` creates. It's never requested, and its host name can't
 * resolve. It shows that Sluice created the data source, and not a person who chose the same name.
 */
export const markerUrl = 'https://pushed-by-sluice.invalid/';

const pageSize = 100;

/** Lists all data sources of the account or, if `clientId` is set, of that client. */
export async function listDatasources(
  client: DestinationClient,
  clientId: string | undefined,
): Promise<RemoteDatasource[]> {
  const found: RemoteDatasource[] = [];
  for (;;) {
    const query = { limit: pageSize, offset: found.length, client_id: clientId };
    const { data, meta } = await client.call('GET', '/datasources', { query });
    const page = Array.isArray(data.datasources) ? data.datasources.flatMap(asRemote) : [];
    found.push(...page);
    if (page.length < pageSize || found.length >= Number(meta.total ?? 0)) return found;
  }
}

/** Returns the data source's format, and whether `apply` created it, in which case its instance has the marker. */
export async function inspect(
  client: DestinationClient,
  { id, clientId }: { id: string; clientId: string | undefined },
): Promise<{ ours: boolean; format: string; instance: string }> {
  const query = { client_id: clientId };
  const detail = await client.call('GET', `/datasources/${encodeURIComponent(id)}`, { query });
  const path = `/datasource-instances/${encodeURIComponent(id)}/properties`;
  const { data } = await client.call('GET', path, { query });
  const ours = asObject(data.properties)?.endpoint_url === markerUrl;
  return { ours, format: text(detail.data.format), instance: id };
}

/** IDs of groups and users that the data source is shared with, and whether they may edit it. */
export async function sharesOf(
  client: DestinationClient,
  { id, clientId }: { id: string; clientId: string | undefined },
): Promise<Map<string, boolean>> {
  const path = `/datasources/${encodeURIComponent(id)}/share-rights`;
  const { data } = await client.call('GET', path, { query: { client_id: clientId } });
  const shares = new Map<string, boolean>();
  for (const right of list(data.share_rights)) shares.set(`group ${text(right.group_id)}`, right.can_edit === true);
  for (const right of list(data.user_share_rights)) shares.set(`user ${text(right.user_id)}`, right.can_edit === true);
  return shares;
}

function asRemote(value: unknown): RemoteDatasource[] {
  const item = asObject(value);
  if (item === undefined || typeof item.id !== 'string') return [];
  return [{ id: item.id, name: text(item.name), description: text(item.description) }];
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== undefined) : [];
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
