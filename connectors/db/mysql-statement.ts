import type { Parameter, QueryValues } from './options.ts';

/**
 * The statements that run a query, in order; the last one has the result.
 *
 * Bound values stay on the text protocol by a statement that is prepared in SQL: its text and its values travel as hex
 * literals, which mean the same in every sql_mode, so nothing is ever quoted and nothing can end a quote.
 */
export function statementsOf({ sql, parameters }: Pick<QueryValues, 'sql' | 'parameters'>): readonly string[] {
  if (parameters.length === 0) return [sql];
  const names = parameters.map((_, i) => `@sluice_${i + 1}`);
  return [
    `set @sluice_query = ${textLiteral(sql)}${parameters.map((value, i) => `, ${names[i]} = ${literal(value)}`).join('')}`,
    'prepare sluice_query from @sluice_query',
    `execute sluice_query using ${names.join(', ')}`,
  ];
}

function literal(value: Parameter): string {
  if (typeof value === 'string') return textLiteral(value);
  return value === null ? 'null' : String(value);
}

function textLiteral(text: string): string {
  return text === '' ? "_utf8mb4''" : `_utf8mb4 x'${Buffer.from(text, 'utf8').toString('hex')}'`;
}
