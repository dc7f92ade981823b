/** One thing that was looked at. `mend` stands where it is not as it should be. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly says: string;
  readonly mend?: string;
}

export const good = (check: string, says: string): Finding => ({ check, ok: true, says });
export const bad = (check: string, says: string, mend: string): Finding => ({ check, ok: false, says, mend });
