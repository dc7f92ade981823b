export interface HeartbeatsTable {
  owner: string;
  wall_ms: number;
  /** Monotonic milliseconds since the owner's boot. */
  monotonic_ms: number;
}

export interface LeasesTable {
  name: string;
  owner: string;
  token: string;
  taken_at: number;
}
