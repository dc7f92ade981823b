import { levelOf } from '../log-events.ts';
import { type EventWords, eventWords } from './event-words.ts';
import { otherLines } from './other-lines.ts';

type Name = keyof typeof eventWords;

/** The areas of the page, by what event names begin with. */
const areas: readonly (readonly [title: string, ...heads: string[]])[] = [
  ['Runs', 'run', 'extract'],
  ['Payloads', 'payload', 'payloads', 'upload', 'refresh'],
  ['Requests, allowances, credentials', 'request', 'quota', 'account', 'usage', 'login'],
  ['Sources and their logins', 'source', 'token'],
  ['Schedules', 'firing', 'job', 'schedules', 'clock'],
  ['Alerts', 'alert', 'heartbeat'],
  ['Config, state and daemon', 'config', 'state', 'daemon'],
];

/** docs/logs.md, made of what the events say of themselves. Throws for an event that has no place on it. */
export function logPage(): string {
  const names = Object.keys(eventWords) as Name[];
  const placed = areas.map(
    ([title, ...heads]) => [title, names.filter((name) => heads.includes(headOf(name)))] as const,
  );
  const homeless = names.filter((name) => !placed.some(([, own]) => own.includes(name)));
  if (homeless.length > 0) throw new Error(`these events have no place in docs/logs.md: ${homeless.join(', ')}`);
  const sections = placed.map(([title, own]) => `## ${title}\n\n${tableOf(own)}`);
  return `${[head, ...sections, othersText(), factsText(names)].join('\n\n')}\n`;
}

const headOf = (name: string): string => name.slice(0, name.indexOf('.'));

const head = `# Log lines

<!-- Made by "npm run generate" out of src/daemon/logs; edits here are lost. -->

Every line of the log is one JSON object: \`level\` (20 debug, 30 info, 40 warn, 50 error), \`time\`, \`msg\` and facts. \`msg\` is the name
of an event below, or one of the sentences under "Other lines"; it never varies, so it can be searched and counted. Facts are only
ever added. Lines of level debug need \`--log debug\`. Of the facts \`at\`, \`until\` and \`since\` are instants (ISO 8601, UTC), \`milliseconds\`
are whole ones. Secrets are taken out by value. How to read a log: [operate.md](operate.md#logs).`;

function tableOf(names: readonly Name[]): string {
  const rows = names.map((name) => {
    const { says, facts } = eventWords[name];
    return `| \`${name}\` | ${levelOf[name] ?? 'debug'} | ${says} | ${factNames(Object.keys(facts))} |`;
  });
  return ['| `msg` | Level | What has happened | Facts |', '|---|---|---|---|', ...rows].join('\n');
}

const factNames = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

function othersText(): string {
  const rows = otherLines.map(
    ({ line, level, says, facts }) => `| \`${line}\` | ${level} | ${says} | ${factNames(facts)} |`,
  );
  return `## Other lines

\`error\` and \`because\` are what went wrong, in one sentence. Lines that a connector writes have the \`job\` and \`run\` that it works for.

${['| `msg` | Level | What it means | Facts |', '|---|---|---|---|', ...rows].join('\n')}`;
}

/** Each fact once, with all that it means; what it means in one event alone names that. */
function factsText(names: readonly Name[]): string {
  const meanings = new Map<string, Map<string, Name[]>>();
  for (const name of names) {
    for (const [fact, means] of Object.entries((eventWords[name] as EventWords).facts)) {
      const known = meanings.get(fact) ?? new Map<string, Name[]>();
      meanings.set(fact, known.set(means, [...(known.get(means) ?? []), name]));
    }
  }
  const rows = [...meanings]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([fact, known]) => `| \`${fact}\` | ${meaningOf(known)} |`);
  return `## Facts of events\n\n${['| Fact | Meaning |', '|---|---|', ...rows].join('\n')}`;
}

function meaningOf(known: ReadonlyMap<string, readonly Name[]>): string {
  if (known.size === 1) return [...known.keys()][0]!;
  const usual = [...known].sort(([, a], [, b]) => b.length - a.length)[0]!;
  const first = usual[1].length > 1 ? [usual[0]] : [];
  const others = [...known].filter((one) => first.length === 0 || one[0] !== usual[0]);
  return [...first, ...others.map(([means, names]) => `${factNames(names)}: ${means}`)].join('; ');
}
