/** One sample of the Prometheus text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const line = /^(?<name>[a-zA-Z_:][\w:]*)(?:\{(?<labels>.*)\})? (?<value>\S+)$/;
const pair = /(?<name>[a-zA-Z_]\w*)="(?<value>(?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/y;

/** Parses the text format strictly according to its specification. Throws if a line is invalid. */
export function parseExposition(text: string): Family[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no line break');
  const families: Family[] = [];
  for (const row of text.split('\n').filter((one) => one !== '')) {
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(row);
    if (comment?.[1] === 'HELP') families.push({ name: comment[2]!, help: comment[3]!, type: '', samples: [] });
    else if (comment !== null) Object.assign(familyOf(families, comment[2]!), { type: comment[3] });
    else sampleInto(families, row);
  }
  return families;
}

function sampleInto(families: Family[], row: string): void {
  const { name = '', labels = '', value = '' } = line.exec(row)?.groups ?? {};
  if (name === '') throw new Error(`not a sample: ${row}`);
  // Prometheus accepts NaN and infinities in any case.
  const isNone = /^nan$/i.test(value);
  const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
  if (Number.isNaN(number) !== isNone) throw new Error(`not a number: ${row}`);
  const family = families.at(-1);
  const base = family?.type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
  familyOf(families, base).samples.push({ name, labels: labelsOf(labels), value: number });
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  pair.lastIndex = 0;
  while (pair.lastIndex < text.length) {
    const { name, value } = pair.exec(text)?.groups ?? {};
    if (name === undefined || name in labels) throw new Error(`labels: ${text}`);
    labels[name] = value!;
  }
  return labels;
}

function familyOf(families: readonly Family[], name: string): Family {
  const family = families.at(-1);
  if (family?.name !== name) throw new Error(`${name} is outside its family`);
  return family;
}

/** What a metrics linter finds; it checks the naming rules that Prometheus publishes. */
export function lintExposition(families: readonly Family[]): string[] {
  const seen = new Set<string>();
  return families.flatMap(({ name, type, help, samples }) => {
    const faults: string[] = [];
    if (seen.has(name)) faults.push(`${name} stands twice`);
    seen.add(name);
    if (help === '') faults.push(`${name} has no help`);
    if (!['counter', 'gauge', 'histogram', 'summary'].includes(type)) faults.push(`${name} has type "${type}"`);
    if ((type === 'counter') !== name.endsWith('_total')) faults.push(`${name} is a ${type}`);
    if (/[A-Z]|_(milliseconds|ms|kilobytes|kb|minutes|hours)(_|$)/.test(name)) faults.push(`${name} has an odd unit`);
    const keys = samples.map((sample) => `${sample.name}${JSON.stringify(Object.entries(sample.labels).sort())}`);
    if (new Set(keys).size < keys.length) faults.push(`${name} repeats a series`);
    if (samples.some(({ labels }) => 'job' in labels || 'instance' in labels))
      faults.push(`${name} takes a label of the scraper`);
    return faults;
  });
}
