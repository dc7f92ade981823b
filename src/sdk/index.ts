/** The one door for connector authors, imported as `#sdk`: defineConnector, option, Problem and the rest. */
export type { ProblemInit } from '../lib/problem.ts';
export { Problem } from '../lib/problem.ts';
export { redact, registerSecret } from '../lib/redact.ts';
export type { Batch, ByteCells, Cells, Value, ValueCells } from './batch.ts';
export { batchOf, batchText, cellText, storedRow, valueText } from './batch.ts';
export type { Column, ColumnType } from './column.ts';
export { columnTypes } from './column.ts';
export type { Connector, ConnectorLog, ExtractContext, Extraction, SourceContext } from './connector.ts';
export { defineConnector } from './connector.ts';
export type { JsonSchema, Option, OptionSet, OptionValues } from './option.ts';
export { option, schemaOf, withDefaults } from './option.ts';
export { canonicalText } from './records/canonical.ts';
export { isKnownEncoding } from './records/encoding.ts';
export type { RecordInput } from './records/input.ts';
export type { RecordFormat, RecordQuery, RecordSettings } from './records/options.ts';
export { formatOfMediaType, formatOfName, recordFaults, recordFormats, recordOptions } from './records/options.ts';
export type { RecordReader, SurveyAsk, Surveyed } from './records/reader.ts';
export { readRecords, recordReader } from './records/reader.ts';
