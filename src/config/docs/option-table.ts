import type { Option, OptionSet } from '../../sdk/option.ts';
import { describeSchema } from '../options/describe-schema.ts';

/** Renders options as a Markdown table: name, values, default, description. */
export function optionTable(options: OptionSet): string {
  const names = Object.keys(options);
  if (names.length === 0) return 'None.';
  const rows = names.map((name) => row(name, options[name]!));
  return ['| Option | Value | Default | |', '|---|---|---|---|', ...rows].join('\n');
}

function row(name: string, option: Option<unknown>): string {
  const fallback = option.required ? '**required**' : defaultText(option.default);
  const about = [option.about, option.secret ? 'Secret.' : '', exampleText(option.example)].filter(Boolean).join(' ');
  return `| \`${name}\` | ${cell(describeSchema(option.schema))} | ${fallback} | ${cell(about)} |`;
}

function defaultText(value: unknown): string {
  return value === undefined ? '' : `\`${cell(JSON.stringify(value))}\``;
}

function exampleText(example: unknown): string {
  if (example === undefined) return '';
  return `Example: \`${typeof example === 'string' ? example : JSON.stringify(example)}\`.`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
