/** The layout of Klips on a dashboard. A layout is either a grid of cells or one of the column layouts. */

const columnLayouts = [
  '100',
  '50_50',
  '30_60',
  '60_30',
  '30_30_30',
  '100_50_50',
  '100_30_60',
  '100_60_30',
  '100_30_30_30',
  '50_50_100',
  '30_60_100',
  '60_30_100',
  '30_30_30_100',
  '100_50_50_100',
  '100_30_60_100',
  '100_60_30_100',
  '100_30_30_30_100',
] as const;

/** All types of layouts: the column layouts, which have regions, and the grid. */
export const layoutTypes = [...columnLayouts, 'grid'] as const;
export type LayoutType = (typeof layoutTypes)[number];

/** Default number of columns in a grid. */
export const defaultColumns = 6;
/** Maximum number of columns in a grid. */
export const maxColumns = 100;
/** The last row of a grid, and the last index in a region. */
export const lastPosition = 1_000_000;

/** An instance and its position. */
export interface Placed {
  readonly id: string;
  /** In a grid, the column; in a column layout, the region, counted from the top left. The first one is 1. */
  readonly region: number;
  /** In a grid, the row; in a column layout, the index in the region. The first one is 0. */
  readonly position: number;
  /** Number of columns that the instance spans. Used only in a grid. */
  readonly colSpan: number;
  /** Pixels. */
  readonly minHeight: number;
  readonly height: number | null;
}

/** The type and size of a layout. */
export interface Layout {
  readonly type: LayoutType;
  /** Number of columns of a grid. */
  readonly cols: number;
}

export const emptyLayout = { layoutType: 'grid', cols: defaultColumns } as const;

/** Converts the stored fields to a layout. */
export function layoutOf({ layoutType, cols }: { layoutType: LayoutType; cols: number }): Layout {
  return { type: layoutType, cols };
}

interface Region {
  /** The region's horizontal band. The band at the top is 0. */
  readonly band: number;
  readonly column: number;
  readonly span: number;
}

interface Regions {
  readonly cols: number;
  readonly regions: readonly Region[];
}

/**
 * Returns the regions of a column layout as grid cells. The numbers in a layout's type are widths in percent: 30 means
 * one third, 60 means two thirds, and the widths in a row add up to 100. For example, `100_30_60` has one full-width
 * region above a narrow and a wide region.
 */
function regionsOf(type: Exclude<LayoutType, 'grid'>): Regions {
  const widths = type.split('_').map(Number);
  const parts = widths.filter((width) => width < 100);
  const thirds = parts.includes(30);
  const cols = thirds ? 3 : Math.max(parts.length, 1);
  const spans = widths.map((width) => (width === 100 ? cols : thirds ? width / 30 : 1));
  const regions: Region[] = [];
  let filled = 0;
  for (const span of spans) {
    regions.push({ band: Math.floor(filled / cols), column: filled % cols, span });
    filled += span;
  }
  return { cols, regions };
}

/** Number of regions in which a Klip instance can be placed. */
export function regionCount({ type, cols }: Layout): number {
  return type === 'grid' ? cols : regionsOf(type).regions.length;
}

/** The position of a Klip instance in a response, which describes every layout as a grid. */
interface Cell {
  readonly id: string;
  /** Column and row. */
  readonly index: readonly [number, number];
  readonly colSpan: number;
  readonly minHeight: number;
  readonly height?: number;
}

/**
 * Converts any layout to grid cells, in the reading order of its regions. `cols` is the number of the grid's columns.
 */
export function asGrid(layout: Layout, placed: readonly Placed[]): { cols: number; cells: Cell[] } {
  if (layout.type !== 'grid') return columnsAsGrid(regionsOf(layout.type), placed);
  const cells = placed.map((one) => cellOf(one, { column: one.region - 1, row: one.position, span: one.colSpan }));
  return { cols: layout.cols, cells };
}

function cellOf(one: Placed, { column, row, span }: { column: number; row: number; span: number }): Cell {
  const { id, minHeight, height } = one;
  return { id, index: [column, row], colSpan: span, minHeight, ...(height === null ? {} : { height }) };
}

/** Converts a column layout to a grid. Each band starts in the row after the longest region of the previous band. */
function columnsAsGrid({ cols, regions }: Regions, placed: readonly Placed[]): { cols: number; cells: Cell[] } {
  const filled = regions.map((_region, at) =>
    placed.filter(({ region }) => region === at + 1).sort((a, b) => a.position - b.position),
  );
  const rows = (band: number): number =>
    Math.max(0, ...filled.flatMap((held, at) => (regions[at]!.band === band ? held.length : [])));
  const cells = regions.flatMap(({ band, column, span }, at) => {
    const first = Array.from({ length: band }, (_none, above) => rows(above)).reduce((sum, more) => sum + more, 0);
    return filled[at]!.map((one, order) => cellOf(one, { column, row: first + order, span }));
  });
  return { cols, cells };
}

/**
 * Makes room at a position that is occupied. Moves the instances at and below the position down by one. In a grid,
 * moves whole rows, because a cell can be wider than one column. Returns the moved instances.
 */
export function makeRoom(
  { type }: Layout,
  placed: readonly Placed[],
  at: Pick<Placed, 'region' | 'position'>,
): Placed[] {
  const taken = placed.some((one) => one.position === at.position && covers(one, at.region));
  if (!taken) return [];
  return placed
    .filter((one) => one.position >= at.position && (type === 'grid' || one.region === at.region))
    .map((one) => ({ ...one, position: one.position + 1 }));
}

function covers({ region, colSpan }: Placed, column: number): boolean {
  return region <= column && column < region + colSpan;
}
