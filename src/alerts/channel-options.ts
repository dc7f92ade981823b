import { seconds } from '../config/options/field.ts';
import { type JsonSchema, option } from '../sdk/option.ts';

/** Options that several channel types declare. */
export const text: JsonSchema = { type: 'string', minLength: 1 };
const address: JsonSchema = { ...text, pattern: '^https?://', writeOnly: true };

export const timeout = seconds(option.integer({ minimum: 1, maximum: 300, default: 15, about: 'Timeout in seconds.' }));

export const urlOf = (about: string, example: string) =>
  option.schema<string>(address, { required: true, secret: true, about, example });
