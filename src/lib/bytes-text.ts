const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A human-readable size with three significant digits and decimal units: `1.46 MB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return unit === 0 ? `${value} B` : `${value.toPrecision(3)} ${units[unit]}`;
}
