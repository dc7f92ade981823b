import { type TObject, type TProperties, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { badRequest } from './api-error.ts';

/** Keywords of a property's JSON Schema, including our extensions. */
interface Property {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  /** Schemas of an object's properties. */
  readonly properties?: Properties;
  /** Schema of a list's items. */
  readonly items?: Property;
  /** Describes the rule in words. The text is shown if a value violates the rule. */
  readonly 'x-rule'?: string;
  /** If set, values are matched case-insensitively and converted to the spelling in `enum`. */
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
 * Validates the fields of a query or body, and fills in defaults. Throws an ApiError (400) that names the field and the
 * violated rule.
 */
type Validate = (given: Fields) => Fields;

/**
 * Creates a validator for query parameters. All parameters arrive as strings; the validator converts them to their
 * declared types.
 */
export function queryValidator(properties: TProperties): Validate {
  return validator(properties, fromText);
}

/** Creates a validator for JSON bodies. A null field counts as absent, and unknown fields are ignored. */
export function bodyValidator(properties: TProperties): Validate {
  return validator(properties, normalized);
}

function validator(properties: TProperties, read: (value: unknown, property: Property) => unknown): Validate {
  const schema = Type.Object(properties);
  // Compiled by the first request: compiling the schemas of all endpoints would take a third of the startup time.
  let compiled: ReturnType<typeof Compile<typeof schema>> | undefined;
  const declared = Object.entries(properties as Properties);
  return (given) => {
    const fields: Fields = {};
    for (const [name, property] of declared) {
      const value = Object.hasOwn(given, name) ? read(given[name], property) : undefined;
      const chosen = value === undefined ? property.default : value;
      if (chosen !== undefined) fields[name] = chosen;
    }
    compiled ??= Compile(schema);
    if (!compiled.Check(fields)) throw badRequest(inWords([...compiled.Errors(fields)] as unknown as Fault[], schema));
    return fields;
  };
}

/**
 * Converts a query parameter to its declared type. Returns a string unchanged if it can't be converted, so that its
 * validation fails.
 */
function fromText(value: unknown, { type }: Property): unknown {
  if (type === 'integer' && typeof value === 'string' && /^-?\d{1,30}$/.test(value)) return Number(value);
  if (type === 'boolean' && typeof value === 'string' && /^(true|false)$/i.test(value)) return /^true$/i.test(value);
  return value;
}

/**
 * Drops null fields at any depth, because a null field counts as absent, and writes words in the case in which they are
 * listed. Keeps null items of lists, so that their validation fails.
 */
function normalized(value: unknown, property: Property): unknown {
  const { properties, items } = property;
  if (value === null) return undefined;
  if (typeof value === 'string') return inListedCase(value, property);
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => item && normalized(item, items));
  if (typeof value !== 'object' || properties === undefined) return value;
  const given = Object.entries(value).map(([name, inner]) => {
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, declared === undefined ? inner : normalized(inner, declared)] as const;
  });
  return Object.fromEntries(given.filter(([, inner]) => inner !== undefined));
}

function inListedCase(value: string, property: Property): unknown {
  if (property['x-any-case'] !== true) return value;
  return property.enum?.find((word) => String(word).toLowerCase() === value.toLowerCase()) ?? value;
}

function inWords(faults: readonly Fault[], schema: TObject): string {
  const fault = faults[0]!;
  const missing = fault.params.requiredProperties?.[0];
  const way = fault.instancePath.split('/').slice(1);
  // The error is in a property's name, so report the object that contains the property.
  if (/\/propertyNames(\/|$)/.test(fault.schemaPath)) way.pop();
  const path = [...way, ...(missing === undefined ? [] : [missing])].join('.');
  if (missing !== undefined) return `Field "${path}" is required`;
  const allowed = fault.params.allowedValues;
  const rule =
    ruleAt(schema, fault.schemaPath) ??
    (allowed === undefined ? fault.message : `must be one of ${allowed.join(', ')}`);
  return `Field "${path}" ${rule}`;
}

/** Returns the rule text of the outermost schema on the path to the error. */
function ruleAt(schema: object, schemaPath: string): string | undefined {
  let node: unknown = schema;
  for (const step of schemaPath.split('/').slice(1)) {
    node = (node as Record<string, unknown> | undefined)?.[step];
    const rule = (node as Property | undefined)?.['x-rule'];
    if (rule !== undefined) return rule;
  }
  return undefined;
}
