import { isMap } from '../../lib/is-map.ts';
import { schemaOf, withDefaults } from '../../sdk/option.ts';
import type { DatasourceDeclaration, Share, Target } from '../config.ts';
import { datasourceOptions, targetOptions } from '../options/target.ts';
import type { Faults } from '../text/faults.ts';
import type { Part } from '../text/variables.ts';
import type { Draft } from './context.ts';
import { partAt } from './member.ts';
import { checkId } from './service-id.ts';
import { validatePart } from './validate.ts';

const kinds = ['instance', 'datasource', 'refresh'] as const;

/** What a job writes. Undefined when it cannot be told. */
export function loadTarget({ part, given, faults }: Draft): Target | undefined {
  const written = given.target;
  const at = partAt(part, 'target');
  if (typeof written === 'string') {
    checkInstance(written, at, faults);
    return { kind: 'instance', instance: written };
  }
  if (!isMap(written)) return undefined;
  validatePart(at, { schema: schemaOf(targetOptions), noun: 'target', faults });
  const clientId = written.client_id;
  if (typeof clientId === 'string') {
    const client = partAt(at, 'client_id');
    if (!at.broken.has(client.path)) checkId(clientId, { path: client.path, what: 'client account', faults });
  }
  const target = loadKind(at, { given: written, formatOfJob: formatWord(given.format), faults });
  return target === undefined || typeof clientId !== 'string' ? target : { ...target, clientId };
}

function formatWord(format: unknown): unknown {
  return isMap(format) ? format.type : format;
}

interface Around {
  readonly given: Record<string, unknown>;
  readonly formatOfJob: unknown;
  readonly faults: Faults;
}

function loadKind(at: Part, { given, formatOfJob, faults }: Around): Target | undefined {
  const named = kinds.filter((kind) => given[kind] !== undefined);
  if (named.length !== 1) {
    faults.add({
      code: 'CONFIG_TARGET',
      message:
        named.length === 0
          ? 'Missing target: one of instance, datasource, refresh'
          : `A target can have only one of instance, datasource and refresh; this one has ${named.join(' and ')}`,
      path: at.path,
      on: 'key',
      allowed: 'one of instance (an id), datasource (declared here, made by "sluice apply"), refresh (a list of ids)',
    });
    return undefined;
  }
  const { instance, datasource, refresh } = given;
  if (typeof instance === 'string') {
    checkInstance(instance, partAt(at, 'instance'), faults);
    return { kind: 'instance', instance };
  }
  if (Array.isArray(refresh)) return loadRefresh(refresh, partAt(at, 'refresh'), faults);
  if (!isMap(datasource)) return undefined;
  const declaration = loadDeclaration(partAt(at, 'datasource'), { given: datasource, formatOfJob, faults });
  return declaration === undefined ? undefined : { kind: 'datasource', declaration };
}

function checkInstance(instance: string, at: Part, faults: Faults): void {
  if (!at.broken.has(at.path)) checkId(instance, { path: at.path, what: 'data-source instance', faults });
}

function loadRefresh(ids: readonly unknown[], at: Part, faults: Faults): Target {
  ids.forEach((id, i) => {
    const { path } = partAt(at, i);
    if (typeof id === 'string' && !at.broken.has(path)) checkId(id, { path, what: 'data source', faults });
  });
  return { kind: 'refresh', datasources: ids.map(String) };
}

function loadDeclaration(at: Part, { given, formatOfJob, faults }: Around): DatasourceDeclaration | undefined {
  const before = faults.problems.length;
  validatePart(at, { schema: schemaOf(datasourceOptions), noun: 'data source', faults });
  const shares = Array.isArray(given.shares)
    ? given.shares.map((share: unknown, i) => loadShare(share, partAt(at, 'shares', i), faults))
    : [];
  if (faults.problems.length > before) return undefined;
  const values = withDefaults(datasourceOptions, given);
  const format = values.format ?? formatOfJob;
  if (format !== 'csv' && format !== 'json' && format !== 'xml') {
    if (formatOfJob === undefined) {
      faults.add({
        code: 'CONFIG_MISSING_OPTION',
        message: 'Missing "format": neither the data source nor the job has one',
        path: at.path,
        on: 'key',
        allowed: 'csv, json, xml',
        next: 'Add a line: format: csv',
      });
    }
    return undefined;
  }
  return {
    name: values.name,
    description: values.description,
    format,
    shares: shares.filter((share) => share !== undefined),
  };
}

function loadShare(share: unknown, at: Part, faults: Faults): Share | undefined {
  if (!isMap(share)) return undefined;
  const { group, user, can_edit } = share;
  const canEdit = can_edit === true;
  if (typeof group === 'string' && user === undefined) return { group, canEdit };
  if (typeof user === 'string' && group === undefined) return { user, canEdit };
  if ((group === undefined) === (user === undefined)) {
    const message =
      group === undefined ? 'Missing group or user in this share' : 'This share has both a group and a user';
    faults.add({ code: 'CONFIG_TARGET', message, path: at.path, allowed: 'group or user, one of the two' });
  }
  return undefined;
}
