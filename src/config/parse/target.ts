import { isMap } from '../../lib/is-map.ts';
import { schemaOf } from '../../sdk/option.ts';
import type { DatasourceDeclaration, Target } from '../config.ts';
import { readOptions, readWhole } from '../options/field.ts';
import { readServiceId } from '../options/service-id.ts';
import { datasourceFormats, datasourceOptions, instanceWords, targetOptions } from '../options/target.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, partAt } from '../text/variables.ts';
import type { Draft } from './context.ts';
import { validatePart } from './validate.ts';

const kinds = ['instance', 'datasource', 'refresh'] as const;

/** Parses a job's target. Returns undefined if the target has an error. */
export function loadTarget({ part, given, faults }: Draft): Target | undefined {
  const at = partAt(part, 'target');
  if (typeof at.value === 'string')
    return { kind: 'instance', instance: readServiceId(at, { what: instanceWords, faults }) };
  if (!isMap(at.value)) return undefined;
  validatePart(at, { schema: schemaOf(targetOptions), noun: 'target', faults });
  const { instance, datasource, refresh, clientId } = readOptions(targetOptions, at, faults);
  if (!hasOneKind(at, faults)) return undefined;
  if (instance !== undefined) return { kind: 'instance', instance, clientId };
  if (refresh !== undefined) return { kind: 'refresh', datasources: refresh, clientId };
  if (datasource === undefined) return undefined;
  const formatOfJob = isMap(given.format) ? given.format.type : given.format;
  const declaration = loadDeclaration(partAt(at, 'datasource'), { formatOfJob, faults });
  return declaration === undefined ? undefined : { kind: 'datasource', declaration, clientId };
}

function hasOneKind(at: Part, faults: Faults): boolean {
  const named = kinds.filter((kind) => partAt(at, kind).value !== undefined);
  if (named.length === 1) return true;
  faults.add({
    code: 'CONFIG_TARGET',
    message:
      named.length === 0
        ? 'Missing target: none of instance, datasource and refresh is set'
        : `A target can have only one of instance, datasource and refresh; this one has ${named.join(' and ')}`,
    path: at.path,
    on: 'key',
    allowed: 'one of instance (an ID), datasource (declared here, created by "sluice apply"), refresh (a list of IDs)',
  });
  return false;
}

function loadDeclaration(
  at: Part,
  { formatOfJob, faults }: { formatOfJob: unknown; faults: Faults },
): DatasourceDeclaration | undefined {
  const before = faults.problems.length;
  validatePart(at, { schema: schemaOf(datasourceOptions), noun: 'data source', faults });
  const shares = partAt(at, 'shares');
  for (const i of Array.isArray(shares.value) ? shares.value.keys() : []) checkShare(partAt(shares, i), faults);
  const values = readWhole(datasourceOptions, at, faults);
  if (faults.problems.length > before || values === undefined) return undefined;
  const format = values.format ?? formatOfJob;
  if (typeof format !== 'string' || !datasourceFormats.includes(format)) {
    if (formatOfJob === undefined) {
      faults.add({
        code: 'CONFIG_MISSING_OPTION',
        message: 'Missing "format": neither the data source nor the job has one',
        path: at.path,
        on: 'key',
        allowed: datasourceFormats.join(', '),
        next: 'add a line: format: csv',
      });
    }
    return undefined;
  }
  return { ...values, format };
}

function checkShare(at: Part, faults: Faults): void {
  const [hasGroup, hasUser] = [partAt(at, 'group'), partAt(at, 'user')].map(({ value }) => value !== undefined);
  if (!isMap(at.value) || hasGroup !== hasUser) return;
  const message = hasGroup ? 'This share has both a group and a user' : 'Missing group or user in this share';
  faults.add({ code: 'CONFIG_TARGET', message, path: at.path, allowed: 'either group or user' });
}
