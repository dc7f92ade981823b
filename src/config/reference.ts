import type { JsonSchema, OptionSet } from '../sdk/option.ts';
import { alertOptions, channelOptions, ownAlertOptions, ruleOptions } from './alert-options.ts';
import { guardOptions } from './guard-options.ts';
import type { Declarations } from './json-schema.ts';
import { topMaps } from './load-top.ts';
import { loginOptions } from './login-options.ts';
import { optionTable } from './option-table.ts';
import { retryOptions } from './retry-options.ts';
import { scheduleOptions } from './schedule-options.ts';
import { destinationOptions, jobOptions, sourceOptions, topOptions } from './settings.ts';
import { datasourceOptions, targetOptions } from './target-options.ts';
import { describeSchema } from './wording.ts';
import { writeOptions } from './write-options.ts';

/** The reference page of the config, as Markdown, out of the same declarations that checking uses. */
export function configReference({ connectors, formats, transforms }: Declarations): string {
  const parts = [
    '# The config, option by option',
    'Generated from the declarations by `npm run generate`; edit those, not this page. [config/example.yaml](../config/example.yaml) shows every option at work.',
    variablesText,
    section('Top level', { ...topOptions, ...topMaps }),
    section('A destination', destinationOptions, 'Under `destinations`, by a name of your choice.'),
    section(
      'A source',
      sourceOptions,
      'Under `sources`, by a name of your choice; the options of its connector stand beside `connector`.',
    ),
    section(
      'A login',
      loginOptions,
      'Behind `login` of a source whose connector logs in by OAuth; [oauth.md](oauth.md) tells how.',
    ),
    section('A job', jobOptions, 'Under `jobs`, by a name of your choice.'),
    section('A schedule', scheduleOptions, scheduleText),
    section('Retry', retryOptions, retryText),
    section(
      'Guards',
      guardOptions,
      'Behind `guards` of a job, and of the top level for all jobs; [guards.md](guards.md) tells what becomes of a result that is held back.',
    ),
    section(
      'Write',
      writeOptions,
      'Behind `write` of a job, as a map; [incremental.md](incremental.md) tells how rows are kept.',
    ),
    section(
      'Alerts',
      alertOptions,
      'Behind `alerts` of the top level; [alerts.md](alerts.md) tells what is told when.',
    ),
    section('A rule of alerts', ruleOptions, 'In `rules` of `alerts`.'),
    section('Alerts of a job', ownAlertOptions, 'Behind `alerts` of a job.'),
    ...Object.entries(channelOptions).map(([type, options]) =>
      section(`Alert channel: ${type}`, options, `In \`channels\` of \`alerts\`, with \`type: ${type}\`.`),
    ),
    section(
      'A target',
      targetOptions,
      'Behind `target`, as a map; exactly one of `instance`, `datasource` and `refresh`.',
    ),
    section('A declared data source', datasourceOptions, 'Behind `target: {datasource: …}`.'),
    '## Connectors',
    'Each has a page of its own: what it reads, its options, columns and limits. How to write one is said in [connectors.md](connectors.md).',
    connectors.map(({ id, summary }) => `- [${id}](connectors/${id}.md): ${summary}`).join('\n'),
    '## Formats',
    ...formats.map(({ id, summary, options }) => [`### ${id}`, summary, optionTable(options)].join('\n\n')),
    '## Transforms',
    ...transforms.map(({ id, summary, schema }) => [`### ${id}`, summary, transformText(id, schema)].join('\n\n')),
  ];
  return `${parts.join('\n\n')}\n`;
}

function section(title: string, options: OptionSet, intro?: string): string {
  return [`## ${title}`, ...(intro === undefined ? [] : [intro]), optionTable(options)].join('\n\n');
}

function transformText(id: string, schema: JsonSchema): string {
  const example = (schema.examples as unknown[] | undefined)?.[0];
  const about = schema.description === undefined ? '' : `${String(schema.description)} `;
  const shown = example === undefined ? '' : ` Example: \`- ${id}: ${JSON.stringify(example)}\`.`;
  return `${about}Takes ${describeSchema(schema)}.${shown}`;
}

const variablesText = `## Variables

Any value (never a key) may hold variables. They are replaced after the file was parsed, so nothing in them can change its structure. In a value that is one variable and nothing else, numbers and \`true\`/\`false\` are recognised where the option wants them.

| Written | Becomes |
|---|---|
| \`\${env:NAME}\` | the environment variable; a fault when it is not set |
| \`\${env:NAME:-value}\` | the same, or \`value\` when it is not set or empty |
| \`\${file:PATH}\` | what stands in the file, without line breaks at its end; the path is meant from the config's folder, and may hold variables |
| \`\${cmd:program arguments}\` | what the program writes, without line breaks at its end; only with \`allow_commands: true\`, without a shell, within 10 seconds |
| \`$\${\` | the two characters \`\${\` themselves |

Inside of \`{…}\` and \`[…]\` YAML wants such values in quotes.`;

const retryText = `Behind \`retry\` of a job, and of the top level for all jobs. It tries a whole **run** again, minutes later, after its connection is
closed: the database was restarted, the token address answered 503. \`retries\` of a source that speaks HTTP
([simple_rest](connectors/simple_rest.md)) is another thing: it repeats one **request** within a run, seconds later, while the
connection and the pages read so far are kept. A request that is still refused after its \`retries\` ends the attempt, and \`retry\` decides when
the next one begins; from the second attempt on, a request is repeated once at most. [operate.md](operate.md#a-source-that-is-away) says what is tried again and what ends it.`;

const scheduleText = `A schedule is a text or a map:

| Written | Fires |
|---|---|
| \`"*/15 * * * *"\` | as the cron expression says, in quotes: minute, hour, day of month, month, day of week; names (\`MON\`, \`JAN\`), lists, ranges, steps, \`L\`, \`W\`, \`#\`, and \`@hourly\`, \`@daily\`, \`@weekly\`, \`@monthly\`, \`@yearly\` |
| \`every 15m\` | every quarter of an hour of real time |
| \`at 06:00, 18:30 on MON-FRI\` | at these times of day; without \`on\`, every day |
| \`manual\` | never by itself, as without a schedule |

As a map it has exactly one of \`cron\`, \`every\` and \`at\`. [schedules.md](schedules.md) tells what happens on the days when clocks change, after a downtime, when a run takes longer than expected, and when a schedule is edited.`;
