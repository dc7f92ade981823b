/** The layout of Klips on a dashboard: either a grid of cells or one of the column layouts. */

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

/** All layout types: column layouts with regions, or a grid. */
export const layoutTypes = [...columnLayouts, 'grid'] as const;
export type LayoutType = (typeof layoutTypes)[number];

/** Default and maximum number of columns of a grid. */
export const defaultColumns = 6;
export const maxColumns = 100;
/** The largest allowed row, or index within a region. */
export const lastPosition = 1_000_000;

/** An instance and its position. */
export interface Placed {
  readonly id: string;
  /** From 1: the column of a grid, or the region of a column layout, counted from the top left. */
  readonly region: number;
  /** From 0: the row of a grid, or the index within the region. */
  readonly position: number;
  /** Only in a grid. */
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

/** The layout from its stored fields. */
export function layoutOf({ layoutType, cols }: { layoutType: LayoutType; cols: number }): Layout {
  return { type: layoutType, cols };
}

interface Region {
  /** The horizontal band of the region, from the top. */
  readonly band: number;
  readonly column: number;
  readonly span: number;
}

interface Regions {
  readonly cols: number;
  readonly regions: readonly Region[];
}

/**
 * The regions of a column layout as grid cells. The numbers in a type are widths in percent, and each row adds up to
 * 100 (30 means one third, 60 two thirds): `100_30_60` is one full-width region above a narrow and a wide one.
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

/** Number of regions in which an instance can be placed. */
export function regionCount({ type, cols }: Layout): number {
  return type === 'grid' ? cols : regionsOf(type).regions.length;
}

/** The grid position of one instance in the response, for every layout type. */
interface Cell {
  readonly id: string;
  /** Column and row. */
  readonly index: readonly [number, number];
  readonly colSpan: number;
  readonly minHeight: number;
  readonly height?: number;
}

/** Any layout as cells, in the reading order of its regions; `cols` is the width of the grid. */
export function asGrid(layout: Layout, placed: readonly Placed[]): { cols: number; cells: Cell[] } {
  if (layout.type !== 'grid') return columnsAsGrid(regionsOf(layout.type), placed);
  const cells = placed.map((one) => cellOf(one, { column: one.region - 1, row: one.position, span: one.colSpan }));
  return { cols: layout.cols, cells };
}

function cellOf(one: Placed, { column, row, span }: { column: number; row: number; span: number }): Cell {
  const { id, minHeight, height } = one;
  return { id, index: [column, row], colSpan: span, minHeight, ...(height === null ? {} : { height }) };
}

/** A band starts in the row after the longest region of the previous band. */
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
 * Makes room at an occupied position by moving instances there and below down by one. In a grid, whole rows move,
 * because a cell can be wider than one column. Returns the moved instances.
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
