import type { Asked, Reply } from './vendor.ts';

/** The API's root, as the token response contains it. */
export const api = '/services/data/v64.0';

/** The other fields in the token response. */
export const kept = { instance_url: 'https://acme.my.salesforce.com' };

/** An object's fields, by name and type. */
export function described(types: Readonly<Record<string, string>>): Reply {
  return { json: { fields: Object.entries(types).map(([name, type]) => ({ name, type, label: name })) } };
}

/** An error response: always a list. */
export function refusal(status: number, errorCode: string, message = 'no'): Reply {
  return { status, json: [{ message, errorCode }] };
}

/** A page of a query. Each record is JSON text as the vendor writes it, with all digits. */
export function page(records: readonly string[], more?: { readonly next?: string; readonly total: number }): Reply {
  const rest = more?.next === undefined ? '"done":true' : `"done":false,"nextRecordsUrl":"${api}/query/${more.next}"`;
  const whole = records.map((text) => text.replace('{', '{"attributes":{"type":"X","url":"/x"},'));
  const text = `{"totalSize":${more?.total ?? records.length},${rest},"records":[${whole.join(',')}]}`;
  return { text, headers: { 'content-type': 'application/json', 'sforce-limit-info': 'api-usage=18/15000' } };
}

/** The value in a query's `>=` condition; if it has none, a value that includes everything. */
export function sinceOf({ query, body }: Pick<Asked, 'query' | 'body'>): string {
  return />= (\S+)/.exec(query.get('q') ?? body?.query ?? '')?.[1] ?? '';
}
