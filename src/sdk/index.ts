/** The one door for connector authors: `import { defineConnector, option, Problem } from '#sdk'`. */
export { Problem } from '../lib/problem.ts';
export type { Batch, ByteCells, Cells, Value, ValueCells } from './batch.ts';
export { batchOf, batchText, cellText, storedRow, valueText } from './batch.ts';
export type { Column, ColumnType } from './column.ts';
export { columnTypes } from './column.ts';
export type { Connector, ConnectorLog, ExtractContext, Extraction, SourceContext } from './connector.ts';
export { defineConnector } from './connector.ts';
export type { JsonSchema, Option, OptionSet, OptionValues } from './option.ts';
export { option, schemaOf, withDefaults } from './option.ts';
