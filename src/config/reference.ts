import type { JsonSchema, OptionSet } from '../sdk/option.ts';
import { alertOptions, channelOptions, ownAlertOptions, ruleOptions } from './alert-options.ts';
import { guardOptions } from './guard-options.ts';
import type { Declarations } from './json-schema.ts';
import { topMaps } from './load-top.ts';
import { loginOptions } from './login-options.ts';
import { optionTable } from './option-table.ts';
import {
  datasourceOptions,
  destinationOptions,
  jobOptions,
  sourceOptions,
  targetOptions,
  topOptions,
} from './settings.ts';
import { describeSchema } from './wording.ts';

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
    scheduleText,
    section(
      'Guards',
      guardOptions,
      'Behind `guards` of a job, and of the top level for all jobs; [guards.md](guards.md) tells what becomes of a result that is held back.',
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
| \`\${file:PATH}\` | what stands in the file, without line breaks at its end; the path is meant from the config's folder |
| \`\${cmd:program arguments}\` | what the program writes, without line breaks at its end; only with \`allow_commands: true\`, without a shell, within 10 seconds |
| \`$\${\` | the two characters \`\${\` themselves |

Inside of \`{…}\` and \`[…]\` YAML wants such values in quotes.`;

const scheduleText = `### Schedules

A schedule is a cron expression of five fields (minute, hour, day of month, month, day of week) in quotes. Names (\`MON\`, \`JAN\`), lists, ranges, steps, \`L\`, \`W\`, \`#\` and the nicknames \`@hourly\`, \`@daily\`, \`@weekly\`, \`@monthly\`, \`@yearly\` are understood. When day of month and day of week are both given, either is enough.

On the days when clocks change:

- Plain values, lists and ranges in minute and hour mean times of day, and each fires exactly once a day. A time that the spring change leaves out fires at the moment when the clock jumps (several times within one gap fire once, together); a time that the autumn change repeats fires the first time only.
- \`*\` or a step in minute or hour means an interval and follows real time: it goes on through the repeated hour, and what the missing hour would have held does not fire.

A firing that was missed because the daemon did not run is caught up with when it starts again, once for each job however many were missed. An edited schedule starts from the moment when the config was loaded.`;
