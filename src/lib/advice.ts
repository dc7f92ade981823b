/**
 * Advice contains commands to type: `sluice sync orders`. If the user started with another config file, they must name it too;
 * only the process that was started knows whether. So it says so here, once, and texts go through {@link advised} on their way out.
 */

type Rewrite = (text: string, encode: (inserted: string) => string) => string;

let carry: Rewrite = (text) => text;

/**
 * From now on texts that give advice go through `rewrite`. It has to leave alone what went through it before, and what it inserts goes
 * through `encode`.
 */
export function rewriteAdvice(rewrite: Rewrite): void {
  carry = rewrite;
}

/** The text with its commands as this user has to type them. For texts of ours, and never for rows or logs. */
export function advised(text: string): string {
  return carry(text, (inserted) => inserted);
}

/** The same for a JSON document of ours. */
export function advisedJson(document: string): string {
  return carry(document, (inserted) => JSON.stringify(inserted).slice(1, -1));
}
