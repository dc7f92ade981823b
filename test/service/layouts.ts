import { createKlip, createTab, placeKlips } from './dashboards.ts';
import type { Answer, Bench } from './service.ts';

interface Cell {
  readonly id: string;
  readonly index: [number, number];
  readonly colSpan: number;
  readonly minHeight: number;
  readonly height?: number;
}

interface Grid {
  readonly type: string;
  readonly state: { readonly desktop: { itemConfigs: Cell[]; colWidths: string[]; cols: number } };
}

export const readLayout = async (given: Bench, tab: string): Promise<Grid> =>
  (await given.call('GET', `/tabs/${tab}/layout`)).body.data as unknown as Grid;
export const writeLayout = (given: Bench, tab: string, body: object): Promise<Answer> =>
  given.call('PUT', `/tabs/${tab}/layout`, { body });

/** A dashboard with Klips in region 1, from top to bottom. */
export async function dashboard(given: Bench, klips: number): Promise<{ tab: string; klip: string; ids: string[] }> {
  const [tab, klip] = [await createTab(given), await createKlip(given)];
  const placed = await placeKlips(
    given,
    tab,
    Array.from({ length: klips }, (_none, position) => ({ klip_id: klip, position })),
  );
  return { tab, klip, ids: placed.map(({ id }) => id) };
}

/** Each instance's position: column, row and width, sorted by ID. */
export async function places(given: Bench, tab: string, ids: readonly string[]): Promise<unknown[]> {
  const { itemConfigs } = (await readLayout(given, tab)).state.desktop;
  return ids.map((id) => {
    const cell = itemConfigs.find((one) => one.id === `gridklip-${id}`);
    return cell && [...cell.index, cell.colSpan];
  });
}
