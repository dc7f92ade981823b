import { CsvChecker } from '../../formats/csv-checker.ts';
import type { FormatChecker } from '../../formats/format.ts';
import type { FormatId } from '../store/datasources.ts';
import { JsonChecker } from './json-checker.ts';
import { XmlChecker } from './xml-checker.ts';

const checkers: Readonly<Record<FormatId, new () => FormatChecker>> = {
  json: JsonChecker,
  csv: CsvChecker,
  xml: XmlChecker,
};

/** Creates a validator for one document that is uploaded to a data source with this format. */
export function checkerOf(format: FormatId): FormatChecker {
  return new checkers[format]();
}
