import { isMap } from '../../lib/is-map.ts';
import { type OptionSet, schemaOf } from '../../sdk/option.ts';
import type { Job } from '../config.ts';
import { changeFrom, guardOptions } from '../options/guards.ts';
import { jobOptions } from '../options/job.ts';
import { datasourceOptions, targetOptions } from '../options/target.ts';
import { writeOptions } from '../options/write.ts';
import { below, type Path } from '../text/document.ts';
import { type Part, partAt } from '../text/variables.ts';
import { fillPart, type Showing } from './fill-value.ts';
import { describeSchedule } from './schedule-text.ts';

type Values = Record<string, unknown>;

/** Shows a job with shorthands expanded and inherited options filled in. */
export function showJob(job: Job, part: Part, showing: Showing): object {
  const { destination, schedule, extract } = job;
  const given = part.value as Values;
  const own = { ...part, value: without(given, ['query', 'format', 'target', 'write', 'schedule', 'guards']) };
  const filled = fillPart(own, jobOptions, showing);
  const inside = (option: string, alone: string | undefined, options: OptionSet): object => ({
    [option]: fillPart(asMap(partAt(part, option), alone), options, showing),
  });
  if (given.destination === undefined) showing.from[below(part.path, 'destination')] = 'the only destination';
  return inOrder({
    ...filled,
    destination: destination.name,
    ...inside('target', 'instance', { ...targetOptions, datasource: declared }),
    schedule: schedule === undefined ? 'manual' : showSchedule(job, part, showing),
    ...(extract === undefined
      ? {}
      : {
          ...inside('query', extract.source.connector.shorthand, extract.source.connector.query),
          ...showFormat(extract, part, showing),
          ...inside('write', 'disposition', writeOptions),
          guards: showGuards(part, showing),
        }),
  });
}

function inOrder(values: Values): Values {
  const known = Object.keys(jobOptions).filter((name) => values[name] !== undefined);
  return Object.fromEntries(known.map((name) => [name, values[name]]));
}

const declared = { ...targetOptions.datasource, schema: schemaOf(datasourceOptions) };

/** Expands a shorthand to the equivalent map. */
function asMap(part: Part, alone: string | undefined): Part {
  if (isMap(part.value) || part.value === undefined || alone === undefined) return part;
  return { ...part, value: { [alone]: part.value } };
}

function without(map: Values, names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !names.includes(name)));
}

function showFormat({ format }: NonNullable<Job['extract']>, part: Part, showing: Showing): object {
  const at = asMap(partAt(part, 'format'), 'type');
  const path = below(at.path, 'type');
  const value = { ...(at.value as Values | undefined), type: format.id };
  const type = { schema: {}, required: true, secret: false, about: '' };
  const filled = fillPart({ ...at, value }, { type, ...format.options }, showing);
  if ((at.value as Values | undefined)?.type === undefined) showing.from[path] = 'the declared data source';
  return { format: filled };
}

/**
 * Shows when the job fires, in words, and the rules for its schedule. Each rule comes from the job or the top level.
 */
function showSchedule({ schedule }: Job, part: Part, { document, from }: Showing): object {
  const at = partAt(part, 'schedule');
  const shown = describeSchedule(schedule!) as Values;
  const own = isMap(at.value) ? at.value : {};
  for (const name of Object.keys(shown)) {
    const inherited = name === 'timezone' ? '/timezone' : `/schedules/${name === 'later' ? 'spread' : name}`;
    const isOwn = !isMap(at.value) ? times.has(name) : own[name] !== undefined || (name === 'later' && own.spread);
    const origin = isOwn ? `line ${document.place(below(at.path, name)).line}` : takenOver(inherited, from);
    if (origin !== undefined) from[below(at.path, name)] = origin;
  }
  return shown;
}

const times: ReadonlySet<string> = new Set(['cron', 'every', 'at', 'days', 'from']);

/**
 * Shows a job's effective guards. Each guard is the job's own; if the job doesn't set it, the top level's; otherwise,
 * the default.
 */
function showGuards(part: Part, { document, top: config, from }: Showing): unknown {
  const top = partAt(config, 'guards');
  const at = partAt(part, 'guards');
  const own = isMap(at.value) ? at.value : {};
  const common = isMap(top.value) ? top.value : {};
  if (at.value === false || (at.value === undefined && top.value === false)) {
    from[at.path] = `line ${document.place(at.value === false ? at.path : top.path).line}`;
    return false;
  }
  const preset = top.value === false ? undefined : guardOptions.row_change.default;
  const all = Object.keys(guardOptions).flatMap((name) => {
    const value = own[name] ?? common[name] ?? (name === 'row_change' ? preset : undefined);
    if (value === undefined) return [];
    const place: Path | undefined = name in own ? at.path : name in common ? top.path : undefined;
    if (place !== undefined) from[below(at.path, name)] = `line ${document.place(below(place, name)).line}`;
    return [[name, name === 'row_change' && isMap(value) ? { from: changeFrom, ...value } : value] as const];
  });
  return Object.fromEntries(all);
}

function takenOver(path: Path, from: Showing['from']): string | undefined {
  return from[path] === undefined ? undefined : `${path.slice(1).replace('/', '.')}, ${from[path]}`;
}
