/**
 * Removes undefined members, so that spreading the result over other members doesn't hide any of them, and so that no
 * list of the members contains them.
 */
export function present<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
