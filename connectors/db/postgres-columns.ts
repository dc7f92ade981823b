import type pg from 'pg';
import type { Column } from '#sdk';
import { refuseDuplicates, type WireColumn } from './cells.ts';
import { Description } from './postgres-statement.ts';
import { isUnknown, type TypeRow, typeOf, typeQuery } from './postgres-types.ts';
import type { SourceTexts } from './source-texts.ts';

interface Found extends Omit<TypeRow, 'oid' | 'inner'> {
  readonly oid: string;
  readonly inner: string;
}

/**
 * The columns of a statement's result. `texts` decodes the texts of a database that doesn't know their encoding. Throws
 * pg's errors, or a Problem if two columns have the same name.
 */
export async function columnsOf(
  client: pg.Client,
  sql: string,
  texts: SourceTexts | undefined,
): Promise<readonly WireColumn[]> {
  const fields = await client.query(new Description(sql)).fields;
  const catalog = await lookUp(client, fields.map(({ dataTypeID }) => dataTypeID).filter(isUnknown));
  const wire = fields.map(({ name, dataTypeID }): WireColumn => {
    const { type, fix } = typeOf(dataTypeID, catalog);
    const column: Column = { name, type };
    const read = fix === undefined ? { column } : { column, fix };
    return texts === undefined ? read : texts.decoded(read);
  });
  refuseDuplicates(wire.map(({ column }) => column));
  return wire;
}

/** The types that have no fixed OID, such as domains and enums. */
async function lookUp(client: pg.Client, oids: readonly number[]): Promise<ReadonlyMap<number, TypeRow>> {
  if (oids.length === 0) return new Map();
  const list = `{${[...new Set(oids)].join(',')}}`;
  const { rows } = await client.query<Found>({ text: typeQuery, values: [list] });
  return new Map(rows.map((row) => [Number(row.oid), { ...row, oid: Number(row.oid), inner: Number(row.inner) }]));
}
