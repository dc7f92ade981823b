import { wholeExample } from '../../config/docs/whole-example.ts';
import { describeSchema } from '../../config/options/describe-schema.ts';
import type { Connector } from '../../sdk/connector.ts';
import type { Option, OptionSet } from '../../sdk/option.ts';
import { catalogOf, connectorNamed } from './catalog-of.ts';

/** Shows everything that a connector declares. */
export async function describeConnector(id: string, { config, json }: { config: string; json?: true }): Promise<void> {
  const catalog = await catalogOf(config);
  const connector = await connectorNamed(id, catalog);
  const from = catalog.origin(id) ?? '';
  const shown = json ? JSON.stringify(asData(connector, from), undefined, 2) : asText(connector, from);
  process.stdout.write(`${shown}\n`);
}

function asData(connector: Connector, from: string): object {
  const { id, title, summary, shorthand, resumes, columns, limits = [], retired } = connector;
  return {
    id,
    title,
    summary,
    from,
    oauth: connector.oauth !== undefined,
    resumes,
    retired,
    source: optionsAsData(connector.source),
    query: optionsAsData(connector.query),
    shorthand,
    columns,
    limits,
    example: wholeExample(connector),
  };
}

function optionsAsData(options: OptionSet): object[] {
  return Object.entries(options).map(([name, { about, required, secret, example, default: fallback, schema }]) => ({
    name,
    about,
    required,
    secret,
    values: describeSchema(schema),
    default: fallback,
    example,
    schema,
  }));
}

/** A line with a title. Long text is wrapped and indented below the title. */
function fact(title: string, text: string): string {
  return title.padEnd(10) + wrapped(text, ' '.repeat(10)).trimStart();
}

function asText(connector: Connector, from: string): string {
  const { id, title, summary, shorthand, columns, limits = [], retired } = connector;
  const example = wholeExample(connector);
  const facts = [
    ...(retired === undefined ? [] : [fact('Gone', retired)]),
    fact('Login', connector.oauth === undefined ? 'by its options' : 'by OAuth: sluice login SOURCE'),
    fact('Resumes', connector.resumes ?? 'no: every run reads everything'),
    fact('From', from),
  ];
  const short = shorthand === undefined ? '' : ` (plain text sets "${shorthand}")`;
  const parts = [
    `${id}: ${title}\n${wrapped(summary, '')}`,
    facts.join('\n'),
    `Source options\n${optionsAsText(connector.source)}`,
    `Query options${short}\n${optionsAsText(connector.query)}`,
    ...(columns === undefined ? [] : [`Columns\n${wrapped(columns.trim(), '  ')}`]),
    ...(limits.length === 0
      ? []
      : [`Limits\n${limits.map((limit) => `  - ${wrapped(limit, '    ').trim()}`).join('\n')}`]),
    ...(example === undefined ? [] : [`Example\n${example.replace(/^(?=.)/gm, '  ')}`]),
  ];
  return parts.join('\n\n');
}

function optionsAsText(options: OptionSet): string {
  const names = Object.keys(options);
  if (names.length === 0) return '  none';
  return names.map((name) => optionAsText(name, options[name]!)).join('\n');
}

function optionAsText(
  name: string,
  { schema, required, secret, about, example, default: fallback }: Option<unknown>,
): string {
  const marks = [
    ...(required ? ['required'] : []),
    ...(secret ? ['secret'] : []),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
    ...(example === undefined ? [] : [`such as ${typeof example === 'string' ? example : JSON.stringify(example)}`]),
  ];
  const lines = [`  ${name}: ${describeSchema(schema)}`, wrapped(about, '      ')];
  if (marks.length > 0) lines.push(`      [${marks.join('; ')}]`);
  return lines.join('\n');
}

/** Wraps text at 100 characters. Existing line breaks are kept, so that tables stay intact. */
function wrapped(text: string, indent: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/(?=.{101})(.{1,100}) +/g, '$1\n').replace(/^(?=.)/gm, indent))
    .join('\n');
}
