import { type TSchema, Type } from 'typebox';
import type { ApiCall } from './endpoint.ts';
import { badRequest } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { defineModel } from './model.ts';
import { asShared, datasourceById } from './store/datasources.ts';
import { canSee } from './store/shares.ts';

/** The schema of a Klip, which contains its data sources and its component tree. Unknown members are kept. */
const open = { additionalProperties: true };
const orNull = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
/** A member that is stored without validation, so a client must expect any type. */
const unchecked = (description: string) => Type.Optional(Type.Unknown({ description: `any value; ${description}` }));

const component = defineModel(
  'KlipComponent',
  {
    type: Type.String({ description: 'such as simple_value or label' }),
    displayName: unchecked('usually a string'),
    id: unchecked('usually a string'),
    size: unchecked('usually a number'),
    fmt: unchecked('usually a string'),
    role: unchecked('usually a string, such as primary or secondary'),
    formulas: unchecked('usually an array'),
    data: unchecked('usually an array'),
    components: orNull(Type.Array(Type.Unknown({ 'x-same-as': 'KlipComponent' }))),
  },
  open,
);
const workspace = defineModel(
  'KlipWorkspace',
  {
    datasources: orNull(Type.Array(Type.String({ description: 'ID of a data source' }))),
    dimensions: unchecked('usually an object with the width `w`'),
  },
  open,
);

export const schemaFields = {
  title: Type.String(),
  id: unchecked('usually a string'),
  version: unchecked('usually a string'),
  layoutConfig: unchecked('usually a string'),
  components: Type.Array(component),
  workspace: orNull(workspace),
};
export const schemaObject = defineModel('KlipSchema', schemaFields, open);

/** A Klip's schema as received from a client. Call {@link checkSchema} to validate it. */
export type Schema = Readonly<Record<string, unknown>>;

/** The default schema, for a Klip that was created without one. */
export function defaultSchema(klipId: string): Schema {
  return {
    title: 'Default',
    id: klipId,
    version: '1',
    layoutConfig: '',
    workspace: { datasources: [], dimensions: { w: 400 } },
    components: [
      {
        type: 'simple_value',
        displayName: 'Simple Value',
        id: `${klipId}-1`,
        components: [label('primary', `${klipId}-2`), label('secondary', `${klipId}-3`)],
      },
    ],
  };
}

function label(role: 'primary' | 'secondary', id: string): object {
  const size = role === 'primary' ? 1 : 2;
  return { type: 'label', displayName: 'Label', id, role, size, fmt: 'txt', formulas: [], data: [] };
}

/** Returns the IDs of the data sources that a Klip's schema names, without duplicates. */
export function datasourcesOf(schema: Schema): string[] {
  const { datasources } = (schema.workspace ?? {}) as { datasources?: string[] | null };
  return [...new Set(datasources?.map(canonicalId))];
}

/**
 * Rejects a Klip's schema if a component is invalid, or if the schema names a data source that isn't in the account or
 * isn't visible to the caller. `at` is the prefix of the schema's fields in error messages.
 */
export function checkSchema(call: ApiCall, schema: Schema, at = ''): void {
  checkComponents(schema.components, `${at}components`);
  for (const id of datasourcesOf(schema)) {
    const source = datasourceById(call.context.db, id);
    if (source?.accountId !== call.account.id || !canSee(call.context.db, asShared(source), call.caller)) {
      throw badRequest(`Field "${at}workspace.datasources" contains an unknown data source: ${id}`);
    }
  }
}

/**
 * Checks all nested components. Uses an explicit stack instead of recursion, because the nesting depth isn't limited.
 */
function checkComponents(components: unknown, at: string): void {
  const left = [{ list: components, at }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (!Array.isArray(next.list)) throw badRequest(`Field "${next.at}" must be an array`);
    for (const [index, component] of (next.list as ({ type?: unknown; components?: unknown } | null)[]).entries()) {
      const path = `${next.at}.${index}`;
      if (typeof component?.type !== 'string') throw badRequest(`Field "${path}.type" must be a string`);
      left.push({ list: component.components ?? [], at: `${path}.components` });
    }
  }
}
