import type { Step } from '../places/path-syntax.ts';
import type { Place } from '../places/place.ts';
import type { PlaceFinder, PlaceState } from '../places/place-finder.ts';
import { putMember, valueOfElement } from '../service/xml-tree.ts';
import { faultIn, type RecordInput } from './input.ts';
import { isDeclaration, localName } from './xml-names.ts';

/** An open element outside the records. */
interface OutsideElement {
  readonly name: string;
  readonly path: string;
  readonly states: readonly PlaceState[];
  /** Its content, if it's needed as a whole. */
  content: { readonly members: Record<string, unknown>; text: string } | undefined;
}

/** A place without prefixes. Columns of the last record may have prefixes. */
export function withoutPrefixes(place: Place): Place {
  return place.from === 'last_record' ? place : { ...place, steps: place.steps.map(withoutPrefix) };
}

function withoutPrefix(step: Step): Step {
  if (typeof step === 'string') return plainName(step);
  if ('last' in step) return step;
  return { where: step.where.map((one) => ({ ...one, path: one.path.map(plainName) })) };
}

const plainName = (name: string) => name.replace(/^(@?)[^:]*:/, '$1');

/** An element with more text than this is skipped rather than kept. */
const maxKept = 1024 * 1024;

/**
 * Finds values outside the records of an XML document. Names have no prefixes, an attribute is `@name`, and an element
 * with only text is that text. Repeated elements are a list.
 */
export class XmlValues {
  readonly #input: RecordInput;
  readonly #finder: PlaceFinder;
  readonly #open: OutsideElement[] = [];
  #kept = 0;

  constructor(input: RecordInput, finder: PlaceFinder) {
    this.#input = input;
    this.#finder = finder;
  }

  /** An element begins. */
  begin(raw: string, attributes: Readonly<Record<string, string>>): void {
    const finder = this.#finder;
    const name = localName(raw);
    const parent = this.#open.at(-1);
    const before = parent === undefined ? finder.start() : parent.content === undefined ? parent.states : [];
    const states = finder.inside(before, name);
    if (before.length > 0) finder.meet(parent?.path ?? '', name);
    const path = parent === undefined ? name : `${parent.path}.${name}`;
    const isKept = parent?.content !== undefined || states.some((one) => finder.isDone(one) || finder.isSelecting(one));
    const own = Object.entries(attributes).filter(([one]) => !isDeclaration(one));
    const members = Object.fromEntries(own.map(([one, value]) => [`@${localName(one)}`, value]));
    this.#open.push({ name, path, states, content: isKept ? { members, text: '' } : undefined });
    if (isKept || states.length === 0) return;
    for (const [attribute, value] of Object.entries(members)) {
      finder.meet(path, attribute);
      this.#take(finder.inside(states, attribute), value);
    }
  }

  text(piece: string): void {
    const content = this.#open.at(-1)?.content;
    if (content === undefined) return;
    this.#kept += piece.length;
    if (this.#kept > maxKept) this.drop();
    else content.text += piece;
  }

  /** An element ends. */
  end(): void {
    const { name, states, content } = this.#open.pop()!;
    if (content === undefined) return;
    const value = valueOfElement(content);
    const around = this.#open.at(-1)?.content;
    if (around !== undefined) putMember(around.members, name, value);
    else this.#kept = 0;
    const finder = this.#finder;
    finder.takeItem(states, value);
    this.#take(
      states.filter((state) => !finder.isSelecting(state)),
      value,
    );
  }

  #take(states: readonly PlaceState[], value: unknown): void {
    const several = this.#finder.take(states, value);
    if (several === undefined) return;
    throw faultIn(this.#input, {
      code: 'PLACE_AMBIGUOUS',
      message: `\`${several}\` matches several elements`,
      next: "select one of them, such as `feed.link[?@.@rel=='next'].@href` or `feed.link[-1].@href`",
    });
  }

  /** Stops keeping the open elements, because they are too large or contain records. */
  drop(): void {
    for (const open of this.#open) open.content = undefined;
    this.#kept = 0;
  }
}
