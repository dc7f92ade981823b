import type { RequestData, Scope } from '#sdk';

const namespace = 'urn:schemas-microsoft-com:xml-analysis';

/** The Discover request (XMLA 1.1), which lists metadata. */
export function discover(kind: string): RequestData {
  return call('Discover', (scope) => {
    const about = `<RequestType>${kind}</RequestType><Restrictions><RestrictionList/></Restrictions>`;
    return about + properties(scope, { Format: 'Tabular', Content: 'Data' });
  });
}

/** The Execute request (XMLA 1.1), which runs a statement. */
export const execute: RequestData = call('Execute', (scope) => {
  const isTabular = scope.layout === 'tabular';
  const shape: Record<string, string> = isTabular
    ? { Format: 'Tabular' }
    : { Format: 'Multidimensional', AxisFormat: 'TupleFormat' };
  const command = `<Command><Statement>${escaped(scope.statement)}</Statement></Command>`;
  return command + properties(scope, { ...shape, Content: 'SchemaData' });
});

function call(method: 'Discover' | 'Execute', inside: (scope: Scope) => string): RequestData {
  return {
    path: '{{ url }}',
    headers: { soapaction: `"${namespace}:${method}"` },
    xml: (scope) =>
      `<?xml version="1.0" encoding="utf-8"?><Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body><${method} xmlns="${namespace}">${inside(scope)}</${method}></Body></Envelope>`,
  };
}

function properties({ data_source, catalog }: Scope, shape: Readonly<Record<string, string>>): string {
  const given = { DataSourceInfo: data_source, Catalog: catalog, ...shape };
  const list = Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<${name}>${escaped(value)}</${name}>`);
  return `<Properties><PropertyList>${list.join('')}</PropertyList></Properties>`;
}

function escaped(value: unknown): string {
  return String(value).replaceAll(/[<>&"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
