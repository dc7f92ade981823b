export interface OwnersTable {
  owner: string;
  beat_wall: number;
  /** Monotonic milliseconds of the owner's boot. */
  beat_monotonic: number;
}

export interface LeasesTable {
  name: string;
  owner: string;
  token: string;
  taken_at: number;
}
