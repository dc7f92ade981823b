import type { Connector } from '../sdk/connector.ts';
import { optionTable } from './option-table.ts';
import { wholeExample } from './whole-example.ts';

/** The reference page of a connector, as Markdown, out of its declarations and the notes that stand beside it. */
export function connectorPage(connector: Connector, notes?: string): string {
  const { id, title, summary, shorthand, columns, limits = [], retired } = connector;
  const example = wholeExample(connector);
  const short = shorthand === undefined ? '' : `Plain text behind \`query\` is taken as \`${shorthand}\`.`;
  const parts = [
    `# ${id}: ${title}`,
    '<!-- Made by `npm run generate` from the declarations and notes in connectors/; edit those, not this page. -->',
    summary,
    ...(retired === undefined ? [] : [`**It is gone.** ${retired}`]),
    factsOf(connector),
    ...(example === undefined ? [] : [`\`\`\`yaml\n${example}\n\`\`\``]),
    '## Options of the source',
    optionTable(connector.source),
    '## Options of the query',
    ...(short === '' ? [] : [short]),
    optionTable(connector.query),
    ...(columns === undefined ? [] : ['## Columns', columns.trim()]),
    ...(limits.length === 0 ? [] : ['## Limits', limits.map((limit) => `- ${limit}`).join('\n')]),
    ...(notes === undefined ? [] : [notes.trim()]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function factsOf({ oauth, resumes, retired }: Connector): string {
  if (retired !== undefined) return 'A job that reads it is refused with these words, before anything is asked.';
  const login =
    oauth === undefined
      ? '**Login**: by the options of the source.'
      : '**Login**: by OAuth, with `sluice login SOURCE`, where the options of the source hold no other credentials.';
  return [login, `**Resumes**: ${resumes ?? 'no, every run reads everything.'}`].join('  \n');
}
