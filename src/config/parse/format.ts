import type { Format } from '../../formats/format.ts';
import { isMap } from '../../lib/is-map.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { type OptionSet, type OptionValues, schemaOf, withDefaults } from '../../sdk/option.ts';
import type { Target } from '../config.ts';
import { showValue } from '../text/show-value.ts';
import { type Part, partAt } from '../text/variables.ts';
import type { Draft } from './context.ts';
import { validatePart } from './validate.ts';

/** A job's format and its options. */
interface ChosenFormat {
  readonly format: Format;
  readonly options: OptionValues<OptionSet>;
}

interface Asked {
  readonly at: Part;
  readonly formats: readonly Format[];
}

/**
 * Parses the job's format, or takes its declared data source's format. Returns undefined if the format has an error.
 */
export function loadFormat(
  draft: Draft,
  target: Target | undefined,
  formats: readonly Format[],
): ChosenFormat | undefined {
  const { part, given, faults } = draft;
  const written = given.format;
  const declared = target?.kind === 'datasource' ? target.declaration.format : undefined;
  const id = written === undefined ? declared : isMap(written) ? (written.type ?? declared) : written;
  if (id === undefined) return reportMissing(draft, formats);
  const at = partAt(part, 'format');
  const typeAt = isMap(written) ? partAt(at, 'type') : at;
  if (at.broken.has(typeAt.path)) return undefined;
  const format = formats.find((one) => one.id === id);
  if (format === undefined) {
    // The job's schema has already rejected every value except a name or a map.
    if (typeof id === 'string' || isMap(written)) reportUnknown(id, { at: typeAt, formats, faults });
    return undefined;
  }
  if (!format.isForDatasources)
    return faults.add({
      code: 'CONFIG_TARGET',
      message: `The service's data sources do not support the ${format.id} format`,
      path: typeAt.path,
      allowed: idsOf(formats).join(', '),
      next: `choose one of these; to write ${format.id} to a file, run "sluice sync JOB --to FILE${format.fileEnding}"`,
    });
  if (declared !== undefined && declared !== format.id) {
    faults.add({
      code: 'CONFIG_TARGET',
      message: `The job writes ${format.id}, but its data source is declared as ${declared}`,
      path: typeAt.path,
      next: `delete "format", or declare the data source as ${format.id}`,
    });
  }
  const { type: _, ...options } = isMap(written) ? written : {};
  const own: Part = { ...at, value: options };
  const before = faults.problems.length;
  validatePart(own, { schema: schemaOf(format.options), noun: `format (${format.id})`, faults });
  if (faults.problems.length > before) return undefined;
  return { format, options: withDefaults(format.options, own.value as Record<string, unknown>) };
}

/** The formats that a job can use: those that the service's data sources support. */
function idsOf(formats: readonly Format[]): string[] {
  return formats.filter(({ isForDatasources }) => isForDatasources).map(({ id }) => id);
}

function reportMissing({ part, given, faults }: Draft, formats: readonly Format[]): undefined {
  const allowed = idsOf(formats).join(', ');
  if (given.format !== undefined) {
    faults.add({
      code: 'CONFIG_MISSING_OPTION',
      message: 'Missing "type" in this format',
      path: partAt(part, 'format').path,
      on: 'key',
      allowed,
      next: 'add a line: type: csv',
    });
    return;
  }
  // The error about the declared data source's missing format was already reported.
  if (isMap(given.target) && given.target.datasource !== undefined) return;
  faults.add({
    code: 'CONFIG_MISSING_OPTION',
    message: 'Missing "format" in this job',
    path: part.path,
    on: 'key',
    allowed,
    next: 'add a line: format: csv',
  });
}

function reportUnknown(id: unknown, { at, formats, faults }: Pick<Draft, 'faults'> & Asked): void {
  const known = idsOf(formats);
  faults.add({
    code: 'CONFIG_UNKNOWN_FORMAT',
    message: `Unknown format ${typeof id === 'string' ? `"${id}"` : showValue(id)}`,
    path: at.path,
    allowed: known.join(', '),
    next: didYouMean(String(id), known),
  });
}
