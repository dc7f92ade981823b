/**
 * Texts say what to type next: `sluice sync orders`. Whoever began with a config of another name has to name it there as well;
 * only the process that was started knows whether. So it says so here, once, and texts go through {@link advised} on their way out.
 */

let carry = (text: string): string => text;

/** From now on texts that give advice go through `rewrite`. It has to leave alone what went through it before. */
export function rewriteAdvice(rewrite: (text: string) => string): void {
  carry = rewrite;
}

/** The text with its commands as this user has to type them. For texts of ours, and never for rows or logs. */
export function advised(text: string): string {
  return carry(text);
}
