import { Type } from 'typebox';
import { badRequest } from './http/api-error.ts';
import { canonicalId } from './http/canonical-id.ts';
import { bodyValidator } from './http/validate.ts';
import { defineModel } from './model.ts';
import {
  asGrid,
  defaultColumns,
  type Layout,
  type LayoutType,
  lastPosition,
  maxColumns,
  type Placed,
  regionCount,
} from './tab-layout.ts';

/** Reads and writes layouts. Requests contain a layout in one of two forms; responses always contain a grid. */

const prefix = 'gridklip-';
const pixels = Type.Integer({ minimum: 0, maximum: 1_000_000, 'x-rule': 'must be a whole number of pixels' });

const cell = defineModel('GridItem', {
  id: Type.String(),
  index: Type.Array(Type.Integer({ minimum: 0, maximum: 2 * lastPosition }), {
    minItems: 2,
    maxItems: 2,
    'x-rule': 'must be a column and a row, both counted from 0',
  }),
  colSpan: Type.Optional(Type.Integer({ minimum: 1, maximum: maxColumns })),
  minHeight: Type.Optional(pixels),
  height: Type.Optional(Type.Union([pixels, Type.Null()])),
});

/** A grid in responses. */
const grid = Type.Object({
  desktop: Type.Object({
    itemConfigs: Type.Array(cell),
    colWidths: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: maxColumns })),
    cols: Type.Optional(Type.Integer({ minimum: 1, maximum: maxColumns })),
  }),
});

/** Maps the ID of each Klip instance to its region and its index in the region. */
const regions = Type.Record(
  Type.String(),
  Type.Object({
    region: Type.Union([Type.Integer(), Type.String({ pattern: '\\d$' })], {
      'x-rule': 'must be a string that ends with the number of a region, counted from 1',
    }),
    idx: Type.Integer({ minimum: 0, maximum: lastPosition, 'x-rule': 'must be a whole number, 0 or more' }),
  }),
);

export const layoutAnswer = defineModel('DashboardLayout', {
  type: Type.Literal('grid'),
  state: Type.Required(grid),
});

/** Formats a layout as a grid, which responses contain for every layout type. */
export function writeLayout(layout: Layout, placed: readonly Placed[]): object {
  const { cols, cells } = asGrid(layout, placed);
  const itemConfigs = cells.map((one) => ({ ...one, id: prefix + one.id }));
  return { type: 'grid', state: { desktop: { itemConfigs, colWidths: Array(cols).fill('auto'), cols } } };
}

export interface WantedLayout extends Layout {
  /** All Klip instances that are on the dashboard after the change. */
  readonly placed: readonly Placed[];
}

const readGrid = bodyValidator({ state: grid });
const readRegions = bodyValidator({ state: regions });

interface Grid {
  desktop: {
    itemConfigs: {
      id: string;
      index: [number, number];
      colSpan?: number;
      minHeight?: number;
      height?: number | null;
    }[];
    colWidths?: string[];
    cols?: number;
  };
}
type Regions = Record<string, { region: string | number; idx: number }>;

/**
 * Parses the body of a request that changes the layout of a dashboard. `standing` are the Klip instances that are now
 * on the dashboard. Throws 400 if the body isn't valid.
 */
export function readLayout(
  { type, state }: { type: LayoutType; state: Readonly<Record<string, unknown>> },
  standing: readonly Placed[],
): WantedLayout {
  const known = new Map(standing.map((one) => [one.id, one]));
  const inCells = type === 'grid' && Object.hasOwn(state, 'desktop');
  const wanted = inCells
    ? gridWanted((readGrid({ state }) as { state: Grid }).state)
    : regionsWanted(type, (readRegions({ state }) as { state: Regions }).state, known);
  for (const { id } of wanted.placed) {
    if (!known.has(id)) throw badRequest(`Field "state" contains a Klip instance that is not on the dashboard: ${id}`);
  }
  return wanted;
}

function gridWanted({ desktop }: Grid): WantedLayout {
  const placed = desktop.itemConfigs.map(({ id, index: [column, row], colSpan = 1, minHeight = 0, height = null }) => {
    const bare = id.startsWith(prefix) ? id.slice(prefix.length) : id;
    return { id: canonicalId(bare), region: column + 1, position: row, colSpan, minHeight, height };
  });
  const cols = columnsOf(desktop, placed);
  const seen = new Set<string>();
  for (const [at, { id, region, colSpan }] of placed.entries()) {
    const field = `state.desktop.itemConfigs.${at}`;
    if (region - 1 + colSpan > cols) throw badRequest(`Field "${field}" does not fit into ${cols} columns`);
    if (seen.has(id)) throw badRequest(`Field "${field}" contains a Klip instance twice: ${id}`);
    seen.add(id);
  }
  return { type: 'grid', cols, placed };
}

/**
 * Returns the number of columns that the request sets. If it sets none, returns the number of columns that the
 * instances need, but at least the default.
 */
function columnsOf({ cols, colWidths }: Grid['desktop'], placed: readonly Placed[]): number {
  if (cols !== undefined && colWidths !== undefined && colWidths.length !== cols) {
    throw badRequest(`Field "state.desktop.colWidths" must have ${cols} widths, one for each column`);
  }
  const needed = Math.max(defaultColumns, ...placed.map(({ region, colSpan }) => region - 1 + colSpan));
  return cols ?? colWidths?.length ?? Math.min(needed, maxColumns);
}

/** Parses a layout that is given as regions. Instances that are already on the dashboard keep their heights. */
function regionsWanted(type: LayoutType, state: Regions, known: ReadonlyMap<string, Placed>): WantedLayout {
  const placed = Object.entries(state).map(([given, { region, idx }]) => {
    const id = canonicalId(given);
    const { minHeight = 0, height = null } = known.get(id) ?? {};
    return { id, region: numberOf(region), position: idx, colSpan: 1, minHeight, height };
  });
  if (new Set(placed.map(({ id }) => id)).size < placed.length) {
    throw badRequest('Field "state" contains a Klip instance twice, in different letter case');
  }
  const needed = Math.max(defaultColumns, ...placed.map(({ region }) => region));
  const layout = { type, cols: Math.min(needed, maxColumns) };
  const regions = regionCount(layout);
  for (const { id, region } of placed) {
    if (region < 1 || region > regions)
      throw badRequest(`Field "state.${id}.region" must be a region from 1 to ${regions}`);
  }
  return { ...layout, placed };
}

function numberOf(region: string | number): number {
  return typeof region === 'number' ? region : Number(/\d+$/.exec(region)![0]);
}
