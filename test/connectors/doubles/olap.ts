import type { Asked, Reply } from './vendor.ts';

export const soap = (body: string, status = 200): Reply => ({
  status,
  text: `<?xml version="1.0"?><SOAP:Envelope xmlns:SOAP="http://schemas.xmlsoap.org/soap/envelope/"><SOAP:Header/><SOAP:Body>${body}</SOAP:Body></SOAP:Envelope>`,
  headers: { 'content-type': 'text/xml' },
});

const wrapped = (method: string, root: string): Reply =>
  soap(
    `<m:${method}Response xmlns:m="urn:schemas-microsoft-com:xml-analysis"><m:return><root>${root}</root></m:return></m:${method}Response>`,
  );

export const discovered = (rows: string): Reply => wrapped('Discover', rows);
export const executed = (root: string): Reply => wrapped('Execute', root);

const escaped = (text: string) => text.replaceAll(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** A result in the tabular layout; each column is `name` or `name:type`. */
export function tabular(columns: readonly string[], rows: readonly (readonly (string | null)[])[]): Reply {
  const split = columns.map((column) => column.split(/:(?=\w+$)/));
  const declared = split.map(
    ([name, type], c) =>
      `<xsd:element minOccurs="0" name="C${c}" sql:field="${escaped(name!)}"${type === undefined ? '' : ` type="xsd:${type}"`}/>`,
  );
  const schema = `<xsd:schema xmlns:xsd="x" xmlns:sql="s"><xsd:complexType name="row"><xsd:sequence>${declared.join('')}</xsd:sequence></xsd:complexType></xsd:schema>`;
  const shown = rows.map(
    (row) => `<row>${row.map((cell, c) => (cell === null ? '' : `<C${c}>${escaped(cell)}</C${c}>`)).join('')}</row>`,
  );
  return executed(schema + shown.join('\n'));
}

/** Answers Discover and Execute at `/xmla`, by their SOAPAction. */
export function olap(given: { discover?: Reply; execute: (asked: Asked) => Reply }) {
  return {
    'POST /xmla': (asked: Asked): Reply =>
      String(asked.headers.soapaction).endsWith(':Discover"')
        ? (given.discover ?? discovered('<row><DataSourceName>Mondrian</DataSourceName></row>'))
        : given.execute(asked),
  };
}
