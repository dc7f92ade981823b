import type { JsonSchema, OptionSet } from '../../sdk/option.ts';
import { secretProviders } from '../../secrets/index.ts';
import { alertOptions, channelOptions, ownAlertOptions, ruleOptions } from '../options/alerts.ts';
import { describeSchema } from '../options/describe-schema.ts';
import { destinationOptions } from '../options/destination.ts';
import { guardOptions } from '../options/guards.ts';
import { jobOptions } from '../options/job.ts';
import { loginOptions } from '../options/login.ts';
import { retryOptions } from '../options/retry.ts';
import { scheduleOptions } from '../options/schedule.ts';
import { sourceOptions } from '../options/source.ts';
import { datasourceOptions, targetOptions } from '../options/target.ts';
import { topOptions } from '../options/top.ts';
import { writeOptions } from '../options/write.ts';
import { topMaps } from '../parse/top.ts';
import type { Declarations } from './json-schema.ts';
import { optionTable } from './option-table.ts';

/** Generates the config's reference page as Markdown from the same declarations as validation. */
export function configReference({ connectors, formats, transforms }: Declarations): string {
  const parts = [
    '# Config reference',
    '`npm run generate` generates this page from the option declarations in `src/`. Edit the declarations, not this page.\n[config/example.yaml](../config/example.yaml) uses every option.',
    variablesText(),
    section('Top level', { ...topOptions, ...topMaps }),
    section(
      'A destination',
      destinationOptions,
      'Each destination is an entry of `destinations`, with a name of your choice.',
    ),
    section(
      'A source',
      sourceOptions,
      "Each source is an entry under `sources`, with a name of your choice. Set the connector's options alongside `connector`.",
    ),
    section(
      'A login',
      loginOptions,
      'These options go in the `login` option of a source whose connector uses OAuth; see [oauth.md](oauth.md).',
    ),
    section('A job', jobOptions, 'Each job is an entry of `jobs`, with a name of your choice.'),
    section('A schedule', scheduleOptions, scheduleText),
    section('Retry', retryOptions, retryText),
    section(
      'Guards',
      guardOptions,
      'Set guards in `guards`, in a job or, for all jobs, at the top level. [guards.md](guards.md) explains what happens to a quarantined result.',
    ),
    section(
      'Write',
      writeOptions,
      "A job's `write` can be a map of these options. [incremental.md](incremental.md) explains how rows are kept.",
    ),
    section('Alerts', alertOptions, 'Set these options in `alerts` at the top level; see [alerts.md](alerts.md).'),
    section('An alert rule', ruleOptions, 'Each rule is an item of the `rules` list in `alerts`.'),
    section("A job's alerts", ownAlertOptions, "Set these options in a job's `alerts`."),
    ...Object.entries(channelOptions).map(([type, options]) =>
      section(
        `Alert channel: ${type}`,
        options,
        `Set these options in an entry of \`channels\` in \`alerts\` that has \`type: ${type}\`.`,
      ),
    ),
    section(
      'A target',
      targetOptions,
      "A job's `target` can be a map with exactly one of `instance`, `datasource` and `refresh`.",
    ),
    section('A declared data source', datasourceOptions, 'Set these options in `target: {datasource: …}`.'),
    '## Connectors',
    'Each connector has a page with its options, columns and limits. To write your own, see [connectors.md](connectors.md).',
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

function secretRows(): string {
  return [...secretProviders].map(([id, { form, about }]) => `| \`\${${id}:${form}}\` | ${about} |`).join('\n');
}

const variablesText = (): string => `## Variables

Values can contain variables; keys can't. Sluice replaces variables after it has parsed the file, so a variable can't change
the file's structure. If a value consists of a single variable, it can be a number, \`true\` or \`false\` where the option
expects one.

| Variable | Value |
|---|---|
| \`\${env:NAME}\` | the environment variable; if it isn't set, the config has an error |
| \`\${env:NAME:-value}\` | the environment variable, or \`value\` if it isn't set or is empty |
| \`\${file:PATH}\` | the file's content, without trailing line breaks; the path is relative to the config's folder, and can contain variables |
| \`\${cmd:program arguments}\` | the program's output, without trailing line breaks; requires \`allow_commands: true\`; the program runs without a shell for at most 10 seconds |
${secretRows()}
| \`$\${\` | the two characters \`\${\` |

[secrets.md](secrets.md) explains how Sluice logs in to secrets providers and reads secrets from them.

In YAML's \`{…}\` and \`[…]\`, put quotes around values that contain variables.`;

const retryText = `Set \`retry\` in a job or, for all jobs, at the top level. It repeats a whole **run** minutes later, with a new connection, for
example after a database restart or a 503 from the token endpoint. In contrast, \`retries\` of an HTTP source
([simple_rest](connectors/simple_rest.md)) repeats one **request** within a run, seconds later, and keeps the connection and
the pages read so far. A request that still fails after its \`retries\` ends the attempt, and \`retry\` decides when the next
attempt starts. From the second attempt on, a request is repeated at most once.
[operate.md](operate.md#unavailable-sources) explains what is retried, and until when.`;

const scheduleText = `A schedule is a string or a map:

| Schedule | Fires |
|---|---|
| \`"*/15 * * * *"\` | at the times that match the cron expression (in quotes), which has five fields: minute, hour, day of month, month, day of week. You can use names (\`MON\`, \`JAN\`), lists, ranges, steps, \`L\`, \`W\`, \`#\`, and \`@hourly\`, \`@daily\`, \`@weekly\`, \`@monthly\`, \`@yearly\` |
| \`every 15m\` | every 15 minutes of real time |
| \`at 06:00, 18:30 on MON-FRI\` | at these times of day; without \`on\`, every day |
| \`manual\` | never (the default) |

A map has exactly one of \`cron\`, \`every\` and \`at\`. [schedules.md](schedules.md) explains clock changes, missed and
overlapping runs, and edits of a schedule.`;
