import { h, setText } from './element.ts';

/** The element of a row, and how to update it. */
export interface KeyedRow<Item> {
  readonly element: HTMLElement;
  update(item: Item): void;
}

/**
 * Renders a list into an element. A row keeps its element as long as its key exists, and with it the
 * focus. An item that is the same object is not rendered again.
 */
export class KeyedList<Item> {
  readonly #parent: Element;
  readonly #keyOf: (item: Item) => string;
  readonly #make: (item: Item) => KeyedRow<Item>;
  #rows = new Map<string, { row: KeyedRow<Item>; item: Item }>();

  constructor(
    parent: Element,
    keyOf: (item: Item) => string,
    make: (item: Item) => KeyedRow<Item>,
  ) {
    this.#parent = parent;
    this.#keyOf = keyOf;
    this.#make = make;
  }

  render(items: readonly Item[]): void {
    const old = this.#rows;
    this.#rows = new Map(items.map((item) => [this.#keyOf(item), this.#rowFor(item)]));
    for (const [key, { row }] of old) if (!this.#rows.has(key)) row.element.remove();
    let next = this.#parent.firstElementChild;
    for (const { row } of this.#rows.values()) {
      if (row.element === next) next = next.nextElementSibling;
      else this.#parent.insertBefore(row.element, next);
    }
  }

  /** Renders all rows again, when something other than their items changed. */
  refresh(): void {
    for (const { row, item } of this.#rows.values()) row.update(item);
  }

  #rowFor(item: Item): { row: KeyedRow<Item>; item: Item } {
    const known = this.#rows.get(this.#keyOf(item));
    if (known?.item === item) return known;
    if (!known) return { row: this.#make(item), item };
    known.row.update(item);
    return { row: known.row, item };
  }
}

/** A note about the items that are not shown. */
export function olderNote(what: string): { element: HTMLElement; say(more: number): void } {
  const element = h('p', { class: 'none' });
  return {
    element,
    say(more) {
      element.hidden = more <= 0;
      setText(element, `… and ${more.toLocaleString()} older ${what}`);
    },
  };
}
