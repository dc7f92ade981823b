export interface HeartbeatsTable {
  owner: string;
  wall_ms: number;
  /** Monotonic time of the last heartbeat, in milliseconds since the owner's boot. */
  monotonic_ms: number;
}

export interface LeasesTable {
  name: string;
  owner: string;
  token: string;
  taken_at: number;
}
