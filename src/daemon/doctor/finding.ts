/** The result of one check. `fix` is set only if the check failed. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
  readonly fix?: string;
}

export const good = (check: string, message: string): Finding => ({ check, ok: true, message });
export const bad = (check: string, message: string, fix: string): Finding => ({ check, ok: false, message, fix });
