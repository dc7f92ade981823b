import { type TObject, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { badRequest } from './api-error.ts';

/** Keywords of a property's schema, including our extensions of JSON Schema. */
interface Property {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  /** Children of an object or a list. */
  readonly properties?: Properties;
  readonly items?: Property;
  /** The rule in words, shown if a value violates it. */
  readonly 'x-rule'?: string;
  /** Values are matched case-insensitively and normalized to the spelling in `enum`. */
  readonly 'x-any-case'?: boolean;
}

type Properties = Readonly<Record<string, Property>>;
type Fields = Record<string, unknown>;

interface Fault {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: { readonly requiredProperties?: readonly string[]; readonly allowedValues?: readonly unknown[] };
  readonly message: string;
}

/**
 * Validates the fields of a query or body and fills in defaults. Throws an ApiError (400) with the field and its rule.
 */
type Validate = (given: Fields) => Fields;

/** Validates query parameters, which are all strings, and converts them to their declared types. */
export function queryValidator(properties: TProperties): Validate {
  return validator(properties, fromText);
}

/** Null fields in a body count as absent; unknown fields are ignored. */
export function bodyValidator(properties: TProperties): Validate {
  return validator(properties, (value, property) => inListedCase(withoutNulls(value, property), property));
}

function validator(properties: TProperties, read: (value: unknown, property: Property) => unknown): Validate {
  const schema = Type.Object(properties);
  const compiled = Compile(schema);
  const declared = Object.entries(properties as Properties);
  return (given) => {
    const fields: Fields = {};
    for (const [name, property] of declared) {
      const value = Object.hasOwn(given, name) ? read(given[name], property) : undefined;
      const chosen = value === undefined ? property.default : value;
      if (chosen !== undefined) fields[name] = chosen;
    }
    if (!compiled.Check(fields)) throw badRequest(inWords([...compiled.Errors(fields)] as unknown as Fault[], schema));
    return fields;
  };
}

/** Converts a query parameter to its declared type. A string that can't be converted is kept and fails validation. */
function fromText(value: unknown, { type }: Property): unknown {
  if (type === 'integer' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** Drops null fields at any depth, because they count as absent. A null item in a list is kept and fails validation. */
function withoutNulls(value: unknown, { properties, items }: Property): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => item && withoutNulls(item, items));
  if (typeof value !== 'object' || properties === undefined) return value;
  const given = Object.entries(value).map(([name, inner]) => {
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, declared === undefined ? inner : withoutNulls(inner, declared)] as const;
  });
  return Object.fromEntries(given.filter(([, inner]) => inner !== undefined));
}

function inListedCase(value: unknown, property: Property): unknown {
  if (property['x-any-case'] !== true || typeof value !== 'string') return value;
  return property.enum?.find((word) => String(word).toLowerCase() === value.toLowerCase()) ?? value;
}

function inWords(faults: readonly Fault[], schema: TObject): string {
  const fault = faults[0]!;
  const missing = fault.params.requiredProperties?.[0];
  const way = fault.instancePath.split('/').slice(1);
  // The error is in a property name, so report the object that contains it.
  if (/\/propertyNames(\/|$)/.test(fault.schemaPath)) way.pop();
  const path = [...way, ...(missing === undefined ? [] : [missing])].join('.');
  if (missing !== undefined) return `Field "${path}" is required`;
  const allowed = fault.params.allowedValues;
  const rule =
    ruleAt(schema, fault.schemaPath) ??
    (allowed === undefined ? fault.message : `must be one of ${allowed.join(', ')}`);
  return `Field "${path}" ${rule}`;
}

/** The rule text of the outermost schema on the path to the error. */
function ruleAt(schema: object, schemaPath: string): string | undefined {
  let node: unknown = schema;
  for (const step of schemaPath.split('/').slice(1)) {
    node = (node as Record<string, unknown> | undefined)?.[step];
    const rule = (node as Property | undefined)?.['x-rule'];
    if (rule !== undefined) return rule;
  }
  return undefined;
}
